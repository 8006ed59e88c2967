// A client of a Sluice server, by fetch alone: documents, the change feed, consumers by long polls,
// and SQL++ statements.

import {Feed} from './feed.js';
import {base64, either, quoted, randomName, RETRY_FIRST_MS, RETRY_LONGEST_MS, sleep} from './parts.js';

/** What the server, or the way to it, said no with. `id` is found in docs/errors/README.md. */
export class SluiceError extends Error {
  constructor(message, {id, status, errors, cause} = {}) {
    super(message, {cause});
    this.name = 'SluiceError';
    this.id = id;
    this.status = status;
    this.errors = errors;
  }
}

export function connect(url, options = {}) {
  return new Sluice(url, options);
}

const UPDATE_ATTEMPTS = 20;
const UPDATE_PAUSE_MS = 10;
// Beyond the time that the server was asked to wait for.
const ANSWER_GRACE_MS = 15_000;

class Sluice {
  #url;
  #headers;
  #fetch;

  constructor(url, {user, password, token, fetch: fetcher}) {
    this.#url = String(url).replace(/\/+$/, '');
    this.#fetch = fetcher ?? ((...args) => globalThis.fetch(...args));
    this.#headers = {'Content-Type': 'application/json'};
    if (token !== undefined) {
      this.#headers.Authorization = `Bearer ${token}`;
    } else if (user !== undefined) {
      this.#headers.Authorization = `Basic ${base64(`${user}:${password ?? ''}`)}`;
    }
  }

  /** Runs a statement. `args`: a list for $1, $2, ..., or an object for $name. */
  async query(statement, args = [], {signal, ...parameters} = {}) {
    const body = {...parameters, statement};
    if (Array.isArray(args)) {
      if (args.length > 0) body.args = args;
    } else {
      for (const [name, value] of Object.entries(args)) body[`$${name}`] = value;
    }
    const {status, value} = await this.#post('/query/service', body, signal);
    const errors = value?.errors ?? [];
    if (errors.length > 0) {
      throw new SluiceError(errors[0].msg, {id: errors[0].id, status, errors});
    }
    if (status >= 400 || value?.status !== 'success') throw refusal(status, value);
    return value.results;
  }

  /** {value, cas}, or undefined when there is none. Binary documents are Uint8Arrays. */
  async get(keyspace, key, {schema, signal} = {}) {
    const query = schema === undefined ? '' : `?schema=${encodeURIComponent(schema)}`;
    const {status, value, headers} =
        await this.#send('GET', documentPath(keyspace, key) + query, undefined, signal);
    if (status === 404 && value?.error?.id === 'document.not_found') return undefined;
    if (status !== 200) throw refusal(status, value);
    return {value, cas: headers.get('etag')?.replaceAll('"', '')};
  }

  /** Creates or replaces; with `cas` only that version. {cas, sequence}. */
  async put(keyspace, key, value, options = {}) {
    return this.#write('PUT', keyspace, key, JSON.stringify(value), options);
  }

  /** Error document.exists when it is there. */
  async insert(keyspace, key, value, options = {}) {
    return this.#write('POST', keyspace, key, JSON.stringify(value), options);
  }

  /** `change`: a list of operations on parts, or an object as a merge patch (RFC 7386). */
  async patch(keyspace, key, change, options = {}) {
    if (Array.isArray(change)) {
      return this.#write('PATCH', keyspace, key, JSON.stringify({specs: change}), options);
    }
    return this.#write('PATCH', keyspace, key, JSON.stringify(change),
                       {...options, type: 'application/merge-patch+json'});
  }

  /** Error document.not_found when it is not there. */
  async remove(keyspace, key, options = {}) {
    return this.#write('DELETE', keyspace, key, undefined, options);
  }

  /**
   * Reads, lets `change` make the new value, and writes it over the version that was read; starts
   * over when another was faster. `change` gets undefined when there is no document, and returns
   * undefined to leave things as they are. {value, cas}.
   */
  async update(keyspace, key, change, {attempts = UPDATE_ATTEMPTS, signal, ...options} = {}) {
    for (let attempt = 1;; ++attempt) {
      const found = await this.get(keyspace, key, {signal});
      const value = await change(found?.value);
      if (value === undefined) return found;
      try {
        const {cas} = await this.put(keyspace, key, value,
                                     {...options, signal, cas: found?.cas ?? null});
        return {value, cas};
      } catch (error) {
        if (error.status !== 412 || attempt >= attempts) throw error;
        await sleep(Math.random() * UPDATE_PAUSE_MS * attempt, signal);
      }
    }
  }

  /** The changes of a keyspace, from now on or from a place; goes on when the server was away. */
  feed(keyspace, options = {}) {
    return new Feed(path => this.#open(path, options.signal), keyspace, options).changes();
  }

  /** The list of consumers. */
  async consumers({signal} = {}) {
    const {status, value} = await this.#send('GET', '/v1/consumers', undefined, signal);
    if (status !== 200) throw refusal(status, value);
    return value.consumers;
  }

  /**
   * The events of a consumer, without end. An event is acknowledged when the next one is asked
   * for: what a loop was at when it broke off, or crashed, comes again. `event.ack()` says that it
   * is dealt with, so that a loop that ends then does not get it again.
   */
  async *consume(name, options = {}) {
    const poll = new Poll(this, name, options);
    try {
      while (true) {
        for (const event of await poll.next()) {
          const ack = () => {
            poll.handled = event.id;
          };
          yield Object.defineProperty(event, 'ack', {value: ack});
          poll.handled = event.id;
        }
      }
    } finally {
      await poll.leave();
    }
  }

  // For Poll.
  async post(path, body, signal) {
    return this.#post(path, body, signal);
  }

  #write(method, keyspace, key, body, {cas, expiry, keepExpiry, type, signal}) {
    const query = new URLSearchParams();
    if (expiry !== undefined) query.set('expiry', String(expiry));
    if (keepExpiry) query.set('keep_expiry', 'true');
    const headers = {};
    if (cas === null) headers['If-None-Match'] = '*';
    if (cas !== null && cas !== undefined) headers['If-Match'] = quoted(cas);
    if (type !== undefined) headers['Content-Type'] = type;
    const path = documentPath(keyspace, key) + (`${query}` === '' ? '' : `?${query}`);
    return this.#send(method, path, body, signal, headers).then(({status, value}) => {
      if (status >= 400) throw refusal(status, value);
      return value;
    });
  }

  // For feeds: the response, whose body is read piece by piece.
  async #open(path, signal) {
    let response;
    try {
      response = await this.#fetch(this.#url + path, {headers: this.#headers, signal});
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      throw unreachable(this.#url, cause);
    }
    if (response.status === 200) return response;
    throw refusal(response.status, await response.json().catch(() => undefined));
  }

  #post(path, body, signal) {
    return this.#send('POST', path, JSON.stringify(body), signal);
  }

  async #send(method, path, body, signal, more = {}) {
    let response;
    try {
      const headers = {...this.#headers, ...more};
      response = await this.#fetch(this.#url + path, {method, headers, body, signal});
      return {status: response.status, headers: response.headers, value: await bodyOf(response)};
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      if (response === undefined) throw unreachable(this.#url, cause);
      throw new SluiceError(`${this.#url} did not answer in JSON: ${cause.message}`,
                            {id: 'bad_answer', cause, status: response.status});
    }
  }
}

async function bodyOf(response) {
  if (response.headers.get('content-type')?.startsWith('application/octet-stream')) {
    return new Uint8Array(await response.arrayBuffer());
  }
  const text = await response.text();
  return text === '' ? undefined : JSON.parse(text);
}

function documentPath(keyspace, key) {
  return `/v1/docs/${encodeURIComponent(keyspace)}/${encodeURIComponent(key)}`;
}

function unreachable(url, cause) {
  return new SluiceError(`${url} can't be reached: ${cause.message}`, {id: 'unreachable', cause});
}

// One client of a consumer.
class Poll {
  handled;  // the id of the last event that was handled
  #sluice;
  #path;
  #options;
  #acknowledged;
  #asked = false;

  constructor(sluice, name, {batch = 100, timeoutMs = 30_000, leaseMs, client, signal} = {}) {
    this.#sluice = sluice;
    this.#path = `/v1/consumers/${encodeURIComponent(name)}/next`;
    this.#options = {batch, timeoutMs, leaseMs, client: client ?? randomName(), signal};
  }

  /** At least one event. Goes on when the server is away, or another client has the consumer. */
  async next() {
    const {signal, batch, timeoutMs} = this.#options;
    let pause = RETRY_FIRST_MS;
    while (true) {
      signal?.throwIfAborted();
      try {
        const events = await this.#ask({max: batch, timeout_ms: timeoutMs});
        if (events.length > 0) return events;
        pause = RETRY_FIRST_MS;
      } catch (error) {
        if (signal?.aborted) throw signal.reason;
        if (error.id === 'consumer.shard_lost') {
          // Another server gives these events again; this one goes on with those of other shards.
          this.#acknowledged = this.handled;
          continue;
        }
        if (!worthRetrying(error)) throw error;
        await sleep(pause, signal);
        pause = Math.min(pause * 2, RETRY_LONGEST_MS);
      }
    }
  }

  /** What was handled is acknowledged, and the next client need not wait for the lease to lapse. */
  async leave() {
    if (!this.#asked) return;
    this.#options.signal = undefined;
    // When it fails, the lease lapses by itself, and what was not acknowledged comes again.
    await this.#ask({max: 0, timeout_ms: 0, release: true}).catch(() => {});
  }

  async #ask(wanted) {
    const {client, leaseMs, signal} = this.#options;
    const acknowledging = this.handled === this.#acknowledged ? undefined : this.handled;
    this.#asked = true;
    const late = AbortSignal.timeout(wanted.timeout_ms + ANSWER_GRACE_MS);
    const {status, value} = await this.#sluice.post(
        this.#path, {...wanted, client, lease_ms: leaseMs, ack: acknowledging},
        either(signal, late));
    if (status !== 200) throw refusal(status, value);
    this.#acknowledged = this.handled;
    return value.events;
  }
}

function refusal(status, value) {
  const error = value?.error;
  return new SluiceError(error?.message ?? `the server answered ${status}`, {id: error?.id, status});
}

// The server is away or busy, another client has the consumer, or an answer was late.
function worthRetrying(error) {
  if (error.name === 'TimeoutError') return true;
  return error instanceof SluiceError &&
      (error.id === 'unreachable' || error.id === 'consumer.busy' ||
       error.id === 'consumer.taken_over' || error.status === 429 || error.status === 503);
}
