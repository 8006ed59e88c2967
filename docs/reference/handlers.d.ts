// Everything that handlers of functions can use besides JavaScript itself. For editors and type checkers:
//   /// <reference path="handlers.d.ts" />
// Declare your bindings yourself:
//   declare const orders: BucketBinding;
//   declare const profiles: UrlBinding;

// --- entry points: functions of the handler's top level that the server calls ---

type OnUpdate = (doc: any, meta: EventMeta, xattrs: Record<string, any>) => void;
type OnDelete = (meta: EventMeta, options: { expired: boolean }) => void;
type OnDeploy = (action: { reason: 'Deploy' | 'Resume'; delay: number }) => void;

interface EventMeta {
  id: string;
  cas: string;
  flags: 0;
  vb: number;
  seq: number;
  datatype: 'json' | 'binary';
  /** Seconds since 1970; 0 for never. */
  expiration: number;
  /** Only for documents that expire. */
  expiry_date?: Date;
  keyspace: { bucket_name: string; scope_name: string; collection_name: string };
  /** OnUpdate only: whether the document existed before. */
  op?: 'insert' | 'update';
  /** OnUpdate only, with the setting meta_previous: the document before the change. */
  previous?: any;
}

// --- bindings ---

/**
 * Documents by key: `b[key]` reads (undefined if it does not exist; language 6.0.0 throws),
 * `b[key] = value` writes, `delete b[key]` deletes. ArrayBuffers are binary documents.
 */
interface BucketBinding {
  [key: string]: any;
}

interface UrlBinding {
  readonly alias: string;
  readonly hostname: string;
}

// --- errors ---

interface KVErrorMessage {
  code: number;
  name: string;
  desc: string;
}

/** A document could not be read or written. */
declare class KVError extends Error {
  constructor(message?: any);
  // @ts-ignore: an object, not a string
  message: KVErrorMessage;
}
/** A SQL++ statement failed. */
declare class N1QLError extends Error {}
/** The handler API was used in a way that it does not allow. */
declare class EventingError extends Error {}
/** An HTTP request has no response, or one that can't be read. */
declare class CurlError extends Error {}
declare class AnalyticsError extends Error {}
declare class SearchError extends Error {}

// --- functions ---

/** Writes a line to the function's log: the JSON text of each value. Never throws. */
declare function log(...values: any[]): void;

/** CRC-64/ISO of a buffer's bytes, or of any other value's JSON text: 16 hexadecimal digits. */
declare function crc64(value: any): string;

/**
 * Calls `callback`, a named function of the handler's top level, with `context` at `date`. A second
 * timer with the same callback and reference replaces the first. Returns the reference; for null a
 * new one.
 */
declare function createTimer(
  callback: (context: any) => void,
  date: Date,
  reference?: string | null,
  context?: any,
): string;

/** False if the timer does not exist, or has fired. */
declare function cancelTimer(callback: (context: any) => void, reference: string): boolean;

/** Starts a flow with the commit of the invocation; not at all if it fails. Returns the run's id. */
declare function startFlow(id: string, input?: { body?: any; header?: Record<string, string> }): string;

interface StreamPiece<Data> {
  data: Data;
  offset: number;
  /** The offset of the next piece. */
  next: number;
  /** Whether there is a next piece. */
  more: boolean;
  /** Bytes of the whole stream. */
  total: number;
}

/** In tasks of flows: reads at most `size` bytes (default 64 KiB, up to 1 MiB) of a stream of the run. */
declare function readStream(id: string, offset?: number, size?: number): StreamPiece<ArrayBuffer>;

/** The same for UTF-8 text. A character that is cut at the end comes with the next piece. */
declare function readStreamText(id: string, offset?: number, size?: number): StreamPiece<string>;

interface CurlRequest {
  headers?: Record<string, any>;
  /**
   * Without `encoding`: a string is sent as text/plain, an ArrayBuffer as application/octet-stream,
   * everything else as application/json. HEAD sends no body.
   */
  body?: any;
  /** TEXT for strings; FORM and JSON for strings and objects; BINARY for strings and buffers. */
  encoding?: 'FORM' | 'JSON' | 'TEXT' | 'BINARY';
  /** Relative to the binding's URL. A path that leads above it is left out. */
  path?: string;
  params?: Record<string, any> | string;
  /** Whether to follow redirects; the default is true. */
  redirect?: boolean;
  /** Seconds. At most the rest of the invocation's time. */
  timeout?: number;
  /** How `path` and `params` are encoded; the default is the function's language version. */
  url_encode_version?: '6.0.0' | '6.5.0' | '6.6.2' | '7.1.0' | '7.2.0';
}

interface CurlResponse {
  status: number;
  /** Values are unchanged: with the space before them and the end of the line. */
  headers: Record<string, string>;
  /**
   * Depends on the content type: text/* gives a string, application/json its value, a form an
   * object or a string, everything else an ArrayBuffer. Null if it is empty.
   */
  body: any;
}

declare function curl(
  method: 'GET' | 'POST' | 'PUT' | 'HEAD' | 'DELETE',
  binding: UrlBinding,
  request?: CurlRequest,
): CurlResponse;

/** Reads rows on demand. A second loop continues where the first one stopped. */
interface QueryRows extends Iterable<any> {
  next(): IteratorResult<any>;
  close(): void;
}

interface QueryOptions {
  consistency?: 'none' | 'request';
  /** The server checks it, but it has no effect: statements need not be prepared. */
  isPrepared?: boolean;
  clientContextId?: any;
}

/** Runs a SQL++ statement. An array gives positional parameters, an object named ones. */
declare function N1QL(
  statement: string,
  parameters?: any[] | Record<string, any>,
  options?: QueryOptions,
): QueryRows;

/** As before version 6.5. */
declare class N1qlQuery {
  constructor(
    statement: string,
    options?: { namedParams?: Record<string, any>; consistency?: 'none' | 'request' },
  );
  execQuery(): any[];
}

// --- couchbase ---

/** Names a document for the functions of `couchbase`. */
interface DocumentMeta {
  /** Other values are converted to a string. */
  id: string | number | boolean;
  cas?: string;
  expiry_date?: Date;
  /** Required if the binding has `*`. */
  keyspace?: { scope_name?: string; collection_name?: string };
}

interface SoftError {
  code: number;
  name: string;
  desc: string;
  key_not_found?: true;
  key_already_exists?: true;
  cas_mismatch?: true;
  not_number?: true;
  field_not_found?: true;
  field_already_exists?: true;
}

interface DocumentResult {
  success: boolean;
  meta?: { id: string; cas?: string; expiry_date?: Date; datatype?: 'json' | 'binary' };
  doc?: any;
  error?: SoftError;
}

interface WriteOptions {
  /** The function gets an event for this write, if it is to its source. */
  self_recursion?: boolean;
}

interface MutateSpec {
  readonly op: string;
  readonly path: string;
}
interface LookupSpec {
  readonly op: string;
  readonly path: string;
}
interface SpecOptions {
  create_path?: boolean;
  /** The path is in the extended attributes. */
  xattrs?: boolean;
}

interface MutateInSpecs {
  insert(path: string, value: any, options?: SpecOptions): MutateSpec;
  upsert(path: string, value: any, options?: SpecOptions): MutateSpec;
  replace(path: string, value: any, options?: SpecOptions): MutateSpec;
  remove(path: string, options?: SpecOptions): MutateSpec;
  arrayAppend(path: string, value: any, options?: SpecOptions): MutateSpec;
  arrayPrepend(path: string, value: any, options?: SpecOptions): MutateSpec;
  arrayInsert(path: string, value: any, options?: SpecOptions): MutateSpec;
  arrayAddUnique(path: string, value: any, options?: SpecOptions): MutateSpec;
}

interface LookupInSpecs {
  get(path: string, options?: { xattrs?: boolean }): LookupSpec;
}

interface Couchbase {
  /** With `cache`, the answer may be as old as the setting bucket_cache_age. */
  get(binding: BucketBinding, meta: DocumentMeta, options?: { cache?: boolean }): DocumentResult;
  insert(
    binding: BucketBinding,
    meta: DocumentMeta,
    doc: any,
    options?: WriteOptions,
  ): DocumentResult;
  upsert(
    binding: BucketBinding,
    meta: DocumentMeta,
    doc: any,
    options?: WriteOptions,
  ): DocumentResult;
  replace(
    binding: BucketBinding,
    meta: DocumentMeta,
    doc: any,
    options?: WriteOptions,
  ): DocumentResult;
  delete(binding: BucketBinding, meta: DocumentMeta): DocumentResult;
  touch(binding: BucketBinding, meta: DocumentMeta): DocumentResult;
  /** The document is `{count: n}`; it is created if it does not exist. */
  increment(binding: BucketBinding, meta: DocumentMeta): DocumentResult;
  decrement(binding: BucketBinding, meta: DocumentMeta): DocumentResult;
  mutateIn(
    binding: BucketBinding,
    meta: DocumentMeta,
    specs: MutateSpec[],
    options?: WriteOptions,
  ): DocumentResult;
  /** `doc` has `{success, value}` for each spec. */
  lookupIn(binding: BucketBinding, meta: DocumentMeta, specs: LookupSpec[]): DocumentResult;
  MutateInSpec: MutateInSpecs;
  LookupInSpec: LookupInSpecs;
  bindingDetails(binding: BucketBinding): {
    access: 'r' | 'rw';
    keyspace: { bucket: string; scope: string; collection: string };
  };

  n1qlQuery: typeof N1QL;
  /** Uses the same engine and refuses statements that write. */
  analyticsQuery(statement: string, parameters?: any[] | Record<string, any>): QueryRows;
  /** Throws SearchError: this server has no search. */
  searchQuery(index: string, query: any, options?: any): never;
  /** Builds queries: `SearchQuery.match('x').field('y')`. This server can't run them. */
  SearchQuery: Record<string, (...values: any[]) => any>;

  /** Base64 of a buffer's bytes, of a string's text, or of any other value's JSON text. */
  base64Encode(value: any): string;
  base64Decode(text: string): string;
  base64Float32ArrayEncode(numbers: ArrayLike<number>): string;
  base64Float32ArrayDecode(text: string): number[];
  base64Float64ArrayEncode(numbers: ArrayLike<number>): string;
  base64Float64ArrayDecode(text: string): number[];
  /** Like crc64, but takes a string's text without quotes. */
  crc_64_go_iso(value: any): string;

  crc64: typeof crc64;
  log: typeof log;
  curl: typeof curl;
  createTimer: typeof createTimer;
  cancelTimer: typeof cancelTimer;
}

declare const couchbase: Couchbase;
