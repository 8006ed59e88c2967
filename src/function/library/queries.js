// N1QL() and couchbase.n1qlQuery(): statements run at once; rows come one by one while the handler
// asks for them.
((native, configuration) => {
  'use strict';

  function parametersOf(given) {
    if (given === undefined || given === null) return '';
    if (typeof given !== 'object') throw new N1QLError('Parameters must be an array or an object');
    for (const value of Object.values(given)) {
      if (value === undefined || typeof value === 'function' || typeof value === 'symbol') {
        throw new N1QLError(`A parameter can't be ${typeof value}`);
      }
    }
    if (Array.isArray(given)) return JSON.stringify(given);
    const named = {};
    for (const [name, value] of Object.entries(given)) {
      named[name.startsWith('$') ? name.slice(1) : name] = value;
    }
    return JSON.stringify(named);
  }

  // One stream: a second loop over it goes on where the first one stopped.
  class Rows {
    #handle;

    #first; // the row that was fetched when the statement started

    constructor(handle, first) {
      this.#handle = handle;
      this.#first = first;
    }

    next() {
      if (this.#handle === undefined) return { done: true, value: undefined };
      const value = this.#first === undefined ? native.queryNext(this.#handle) : this.#first;
      this.#first = undefined;
      if (value !== undefined) return { done: false, value };
      this.close();
      return { done: true, value: undefined };
    }

    [Symbol.iterator]() {
      return { next: () => this.next() };
    }

    close() {
      if (this.#handle === undefined) return;
      native.queryClose(this.#handle);
      this.#handle = undefined;
    }
  }

  function n1qlQuery(statement, parameters, options) {
    if (typeof statement !== 'string') throw new N1QLError('The statement must be a string');
    const consistency = options?.consistency ?? configuration.consistency;
    if (consistency !== 'none' && consistency !== 'request') {
      throw new N1QLError(`consistency must be none or request, got ${String(consistency)}`);
    }
    const handle = native.queryStart(statement, parametersOf(parameters));
    return new Rows(handle, native.queryNext(handle));
  }

  globalThis.N1QL = n1qlQuery;
  globalThis.couchbase.n1qlQuery = n1qlQuery;
  return {};
})
