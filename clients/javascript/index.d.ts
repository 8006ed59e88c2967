export interface ConnectOptions {
  user?: string;
  password?: string;
  /** Instead of user and password. */
  token?: string;
  /** Replaces the global fetch. */
  fetch?: typeof fetch;
}

export interface Event<Row = Record<string, unknown>> {
  /** Unique; the same when the event comes again. */
  id: string;
  /** The table's name, or bucket.scope.collection. */
  name: string;
  type: 'add' | 'upd' | 'del';
  /** The key of a document. */
  key?: string;
  new?: Row;
  old?: Row;
  /** The same for all events of one transaction. */
  tid: number;
  /** Seconds since 1970. */
  epoch: number;
  sequence: number;
  /** Acknowledges this event and those before it: if the loop ends now, they do not come again. */
  ack(): void;
}

export interface ConsumeOptions {
  /** The most events of one request; default 100. */
  batch?: number;
  /** How long the server waits for events, per request; default 30000. */
  timeoutMs?: number;
  /** How long after a request no other client may take over; default 10000. Handling a batch must not take longer. */
  leaseMs?: number;
  /** This client's name; default: a random one. */
  client?: string;
  signal?: AbortSignal;
}

export interface Consumer {
  name: string;
  sources: string[];
  taken: boolean;
  /** `stalled`: the owner is silent, and another client may take over. */
  state: "free" | "taken" | "stalled";
  owner?: string;
  waiting_clients: number;
  depth: number;
  lag_s: number | null;
}

export interface WriteOptions {
  /** Write only if the document has this version; null: only if it does not exist. Otherwise an error with status 412. */
  cas?: string | null;
  /** A duration ("30s", "7d"), a time, or Unix time in milliseconds; 0 is never. */
  expiry?: string | number;
  /** Keeps the document's expiry. */
  keepExpiry?: boolean;
  signal?: AbortSignal;
}

export interface Written {
  cas: string;
  sequence: number;
}

/** One operation on a part of a document. */
export interface Part {
  op: 'insert' | 'upsert' | 'replace' | 'remove' | 'array_append' | 'array_prepend' | 'array_insert' |
      'array_add_unique' | 'counter';
  path: string;
  value?: unknown;
  delta?: number;
  create_path?: boolean;
  xattr?: boolean;
}

export interface Change<Value = any> {
  key: string;
  operation: 'insert' | 'update' | 'delete' | 'expire';
  value?: Value;
  cas: string;
  sequence: number;
  /** Milliseconds since 1970. */
  time: number;
  /** The position after it: use it as `since` to continue there. */
  id: string;
}

export interface FeedOptions {
  /** The id of a change, or the argument of onCaughtUp. */
  since?: string;
  /** Begins with all existing documents; default: with the next change. */
  from?: 'everything';
  /** Ends after all existing changes instead of waiting for more. */
  until?: 'caught_up';
  /** The most changes. */
  limit?: number;
  /** false: leaves the values out. */
  values?: boolean;
  /** Called after all existing changes. */
  onCaughtUp?: (place: string) => void;
  signal?: AbortSignal;
}

export interface Sluice {
  get<Value = any>(keyspace: string, key: string, options?: {schema?: string; signal?: AbortSignal}):
      Promise<{value: Value; cas: string} | undefined>;
  put(keyspace: string, key: string, value: unknown, options?: WriteOptions): Promise<Written>;
  insert(keyspace: string, key: string, value: unknown, options?: WriteOptions): Promise<Written>;
  patch(keyspace: string, key: string, change: Part[] | Record<string, unknown>, options?: WriteOptions):
      Promise<Written & {values?: unknown[]}>;
  remove(keyspace: string, key: string, options?: WriteOptions): Promise<Written>;
  update<Value = any>(keyspace: string, key: string,
                      change: (value: Value | undefined) => Value | undefined | Promise<Value | undefined>,
                      options?: Omit<WriteOptions, 'cas'> & {attempts?: number}):
      Promise<{value: Value; cas: string} | undefined>;
  feed<Value = any>(keyspace: string, options?: FeedOptions): AsyncGenerator<Change<Value>, void>;
  query<Row = any>(statement: string, args?: unknown[] | Record<string, unknown>,
                   parameters?: {signal?: AbortSignal; [name: string]: unknown}): Promise<Row[]>;
  consume<Row = Record<string, unknown>>(name: string, options?: ConsumeOptions): AsyncGenerator<Event<Row>, void>;
  consumers(options?: {signal?: AbortSignal}): Promise<Consumer[]>;
}

export class SluiceError extends Error {
  /** As in docs/errors/README.md; `unreachable` and `bad_answer` are this client's own. */
  id?: string;
  status?: number;
  /** All errors of a statement. */
  errors?: {code: number; msg: string; id: string}[];
}

export function connect(url: string, options?: ConnectOptions): Sluice;
