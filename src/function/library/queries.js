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

    #type; // of its errors

    #first; // the row that was fetched when the statement started

    constructor(handle, first, type) {
      this.#handle = handle;
      this.#type = type;
      this.#first = first;
    }

    next() {
      if (this.#handle === undefined) return { done: true, value: undefined };
      const value = this.#first === undefined ? native.queryNext(this.#handle, this.#type) : this.#first;
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

  // A handler gets at them by what it is returned.
  Object.freeze(Rows);
  Object.freeze(Rows.prototype);

  function start(statement, parameters, type, readOnly) {
    const handle = native.queryStart(statement, parametersOf(parameters), type, readOnly);
    return new Rows(handle, native.queryNext(handle, type), type);
  }

  function n1qlQuery(statement, parameters, options) {
    if (typeof statement !== 'string') throw new N1QLError('The statement must be a string');
    const consistency = options?.consistency ?? configuration.consistency;
    if (consistency !== 'none' && consistency !== 'request') {
      throw new N1QLError(`consistency must be none or request, got ${String(consistency)}`);
    }
    return start(statement, parameters, 'N1QLError', false);
  }

  // The same engine; statements that write are refused.
  function analyticsQuery(statement, parameters) {
    if (typeof statement !== 'string') throw new AnalyticsError('The statement must be a string');
    return start(statement, parameters, 'AnalyticsError', true);
  }

  function searchQuery() {
    throw new SearchError('Search is not available on this server');
  }

  // As in versions before 6.5, where embedded statements became this.
  class N1qlQuery {
    #statement;

    #options;

    constructor(statement, options = {}) {
      this.#statement = statement;
      this.#options = options;
    }

    execQuery() {
      const { namedParams, consistency } = this.#options;
      return [...n1qlQuery(this.#statement, namedParams, { consistency })];
    }
  }

  Object.assign(globalThis, { N1QL: n1qlQuery, N1qlQuery });
  Object.assign(globalThis.couchbase, { n1qlQuery, analyticsQuery, searchQuery });
  return {};
})
