// Error classes that handlers can catch by name. A message may be an object, as KVError's is.
((native, configuration, shared) => {
  'use strict';

  // Why a value can't be stored or sent; undefined when it can.
  shared.invalidType = (value) => (['undefined', 'function', 'symbol'].includes(typeof value)
    ? `"${typeof value}" is not a valid type` : undefined);

  for (const name of ['KVError', 'N1QLError', 'EventingError', 'CurlError', 'AnalyticsError',
    'SearchError']) {
    const type = class extends Error {
      constructor(message) {
        super();
        Object.defineProperty(this, 'message', {
          value: message, writable: true, configurable: true, enumerable: false,
        });
      }

      toString() {
        const { message } = this;
        return `${name}: ${typeof message === 'string' ? message : JSON.stringify(message)}`;
      }
    };
    Object.defineProperty(type, 'name', { value: name });
    Object.defineProperty(type.prototype, 'name', {
      value: name, writable: true, configurable: true, enumerable: false,
    });
    globalThis[name] = type;
  }
  globalThis.couchbase = {};
  return {};
})
