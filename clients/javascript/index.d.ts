export interface ConnectOptions {
  user?: string;
  password?: string;
  /** Instead of user and password. */
  token?: string;
  /** Instead of the global one. */
  fetch?: typeof fetch;
}

export interface Event<Row = Record<string, unknown>> {
  /** Unique; the same when the event comes again. */
  id: string;
  /** The table's name, or bucket.scope.collection. */
  name: string;
  type: 'add' | 'upd' | 'del';
  /** Of a document. */
  key?: string;
  new?: Row;
  old?: Row;
  /** The same for all events of one transaction. */
  tid: number;
  /** Seconds since 1970. */
  epoch: number;
  sequence: number;
}

export interface ConsumeOptions {
  /** The most events of one request; default 100. */
  batch?: number;
  /** How long the server waits for events, per request; default 30000. */
  timeoutMs?: number;
  /** How long after a request others may not take over; default 10000. Handling a batch must not take longer. */
  leaseMs?: number;
  /** This client's name; a random one without it. */
  client?: string;
  signal?: AbortSignal;
}

export interface Consumer {
  name: string;
  sources: string[];
  taken: boolean;
  /** `stalled`: who has it is silent, and whoever comes may take over. */
  state: "free" | "taken" | "stalled";
  owner?: string;
  waiting_clients: number;
  depth: number;
  lag_s: number | null;
}

export interface Sluice {
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
