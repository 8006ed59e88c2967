// N1QL() and couchbase.n1qlQuery(): a statement starts at once; the handler reads its rows one by one.
((native, configuration, shared) => {
  'use strict';

  function statementOf(values, ErrorType) {
    if (values.length < 1) throw new ErrorType('Need at least the query');
    if (typeof values[0] !== 'string') {
      throw new ErrorType('Expecting a string for the first parameter');
    }
    return values[0];
  }

  function checkTypes(values, ErrorType, where) {
    values.forEach((value, index) => {
      const problem = shared.invalidType(value);
      if (problem !== undefined) throw new ErrorType(`Invalid data type ${where(index)}: ${problem}`);
    });
  }

  function parametersOf(given, ErrorType) {
    if (given === undefined || given === null) return '';
    if (typeof given !== 'object') throw new ErrorType('Unable to cast second parameter to object');
    if (Array.isArray(given)) {
      checkTypes(Array.from(given), ErrorType, (index) => `at index ${index} for positional parameters`);
      return JSON.stringify(given);
    }
    checkTypes(Object.values(given), ErrorType, () => 'for named parameters');
    const named = {};
    for (const [name, value] of Object.entries(given)) {
      named[name.startsWith('$') ? name.slice(1) : name] = value;
    }
    return JSON.stringify(named);
  }

  // Statements always see everything, and need not be prepared: the options are only checked.
  function checkOptions(options, consistencies, ErrorType) {
    if (options === undefined || options === null) return;
    const { consistency, isPrepared, clientContextId } = options;
    if (consistency !== undefined && typeof consistency !== 'string') {
      throw new ErrorType('Expecting a string for consistency');
    }
    if (consistency !== undefined && !consistencies.includes(consistency)) {
      const choices = consistencies.map((one) => `'${one}'`).join(', ');
      throw new ErrorType(`consistency must be one of ${choices}`);
    }
    if (isPrepared !== undefined && typeof isPrepared !== 'boolean') {
      throw new ErrorType('Expecting a boolean for isPrepared property');
    }
    if (clientContextId !== undefined) {
      checkTypes([clientContextId], ErrorType, () => 'for clientContextId');
    }
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

  // A handler reaches these classes only through returned objects.
  Object.freeze(Rows);
  Object.freeze(Rows.prototype);

  function start(statement, parameters, type, readOnly) {
    const handle = native.queryStart(statement, parameters, type, readOnly);
    return new Rows(handle, native.queryNext(handle, type), type);
  }

  function n1qlQuery(...values) {
    const statement = statementOf(values, N1QLError);
    checkOptions(values[2], ['none', 'request'], N1QLError);
    return start(statement, parametersOf(values[1], N1QLError), 'N1QLError', false);
  }

  // The same engine; statements that write are refused.
  function analyticsQuery(...values) {
    const statement = statementOf(values, AnalyticsError);
    checkOptions(values[2], ['not_bounded', 'request_plus', 'none', 'request'], AnalyticsError);
    return start(statement, parametersOf(values[1], AnalyticsError), 'AnalyticsError', true);
  }

  // There is no full-text search. Its query builders exist, so that handlers load.
  function searchQuery() {
    native.searchQuery();
  }

  const builder = (kind, ...names) => (...values) => {
    const query = { kind };
    names.forEach((name, index) => { if (index < values.length) query[name] = values[index]; });
    // Each setter returns the query: match('x').field('y').boost(2)
    return new Proxy(query, {
      get: (target, key, self) => (key in target || typeof key === 'symbol' || key === 'toJSON'
        ? target[key] : (value) => { target[key] = value; return self; }),
    });
  };
  const SearchQuery = {
    match: builder('match', 'match'),
    matchPhrase: builder('matchPhrase', 'match_phrase'),
    regexp: builder('regexp', 'regexp'),
    queryString: builder('queryString', 'query'),
    numericRange: builder('numericRange'),
    dateRange: builder('dateRange'),
    termRange: builder('termRange'),
    conjuncts: (...queries) => builder('conjuncts', 'conjuncts')(queries.flat()),
    disjuncts: (...queries) => builder('disjuncts', 'disjuncts')(queries.flat()),
    boolean: builder('boolean'),
    wildcard: builder('wildcard', 'wildcard'),
    docIds: (...ids) => builder('docIds', 'ids')(ids.flat()),
    booleanField: builder('booleanField', 'bool'),
    term: builder('term', 'term'),
    phrase: (...terms) => builder('phrase', 'terms')(terms.flat()),
    prefix: builder('prefix', 'prefix'),
    matchAll: builder('matchAll'),
    matchNone: builder('matchNone'),
    geoDistance: builder('geoDistance', 'lon', 'lat', 'distance'),
    geoBoundingBox: builder('geoBoundingBox', 'tl_lon', 'tl_lat', 'br_lon', 'br_lat'),
    geoPolygon: builder('geoPolygon', 'points'),
  };

  // For handlers of versions before 6.5, which turned embedded statements into this.
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
  Object.assign(globalThis.couchbase, {
    n1qlQuery, analyticsQuery, searchQuery, SearchQuery,
  });
  return {};
})
