// The change feed of a keyspace: server-sent events as changes.

import {RETRY_FIRST_MS, RETRY_LONGEST_MS, sleep} from './parts.js';

export class Feed {
  #open;  // of a path: the response
  #path;
  #options;
  #since;
  #left;

  constructor(open, keyspace, options) {
    this.#open = open;
    this.#path = `/v1/feed/${encodeURIComponent(keyspace)}`;
    this.#options = options;
    this.#since = options.since;
    this.#left = options.limit ?? Infinity;
  }

  /** Nothing is missed and nothing comes twice when a connection breaks. */
  async *changes() {
    const {signal} = this.#options;
    let pause = RETRY_FIRST_MS;
    while (this.#left > 0) {
      signal?.throwIfAborted();
      try {
        for await (const change of this.#connection()) {
          pause = RETRY_FIRST_MS;
          if (change === undefined) return;  // caught up, as was asked for
          yield change;
        }
      } catch (error) {
        if (signal?.aborted) throw signal.reason;
        if (!worthRetrying(error)) throw error;
      }
      if (this.#left <= 0) return;
      await sleep(pause, signal);
      pause = Math.min(pause * 2, RETRY_LONGEST_MS);
    }
  }

  async *#connection() {
    const response = await this.#open(`${this.#path}?${this.#query()}`);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    try {
      for await (const {id, event, data} of messages(reader)) {
        const change = event === 'ready' || event === 'caught_up' ? undefined : JSON.parse(data);
        this.#since = id ?? this.#since;
        if (event === 'caught_up') {
          this.#options.onCaughtUp?.(this.#since);
          if (this.#options.until === 'caught_up') yield undefined;
        }
        if (change === undefined) continue;
        --this.#left;
        yield {...change, id};
      }
    } finally {
      await reader.cancel().catch(() => {});
    }
  }

  #query() {
    const {from, values, until} = this.#options;
    const query = new URLSearchParams();
    if (this.#since !== undefined) {
      query.set('since', this.#since);
    } else if (from !== undefined) {
      query.set('from', from);
    }
    if (values === false) query.set('values', 'false');
    if (until !== undefined) query.set('until', until);
    if (this.#left !== Infinity) query.set('limit', String(this.#left));
    return query;
  }
}

// {id, event, data} of a stream of server-sent events; lines that begin with a colon keep it alive.
async function* messages(reader) {
  let text = '';
  let message = {};
  while (true) {
    const {value, done} = await reader.read();
    if (done) return;
    text += value;
    const lines = text.split('\n');
    text = lines.pop();
    for (const line of lines) {
      if (line === '') {
        if (message.event !== undefined) yield message;
        message = {};
        continue;
      }
      const colon = line.indexOf(': ');
      if (colon > 0) message[line.slice(0, colon)] = line.slice(colon + 2);
    }
  }
}

// The connection broke, or the server is away or busy.
function worthRetrying(error) {
  if (error.name === 'TypeError') return true;
  return error.name === 'SluiceError' &&
      (error.id === 'unreachable' || error.status === 429 || error.status === 503);
}
