// A client of a Sluice server, by fetch alone: consumers by long polls, and SQL++ statements.

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

const RETRY_FIRST_MS = 100;
const RETRY_LONGEST_MS = 5_000;
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

  /** The list of consumers. */
  async consumers({signal} = {}) {
    const {status, value} = await this.#send('GET', '/v1/consumers', undefined, signal);
    if (status !== 200) throw refusal(status, value);
    return value.consumers;
  }

  /**
   * The events of a consumer, without end. An event is acknowledged when the next one is asked
   * for: what a loop was at when it broke off, or crashed, comes again.
   */
  async *consume(name, options = {}) {
    const poll = new Poll(this, name, options);
    try {
      while (true) {
        for (const event of await poll.next()) {
          yield event;
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

  #post(path, body, signal) {
    return this.#send('POST', path, JSON.stringify(body), signal);
  }

  async #send(method, path, body, signal) {
    let response;
    try {
      response = await this.#fetch(this.#url + path, {method, headers: this.#headers, body, signal});
      const text = await response.text();
      return {status: response.status, value: text === '' ? undefined : JSON.parse(text)};
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      const what = response === undefined ? "can't be reached" : 'did not answer in JSON';
      throw new SluiceError(`${this.#url} ${what}: ${cause.message}`,
                            {id: response === undefined ? 'unreachable' : 'bad_answer', cause,
                             status: response?.status});
    }
  }
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

function either(signal, other) {
  if (signal === undefined) return other;
  const both = new AbortController();
  for (const one of [signal, other]) {
    if (one.aborted) both.abort(one.reason);
    one.addEventListener('abort', () => both.abort(one.reason), {once: true, signal: both.signal});
  }
  return both.signal;
}

function sleep(ms, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, {once: true});
  });
}

function randomName() {
  return Array.from({length: 16}, () => Math.floor(Math.random() * 16).toString(16)).join('');
}

function base64(text) {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}
