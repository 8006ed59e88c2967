// log and the checksums.
((native) => {
  'use strict';

  const { couchbase } = globalThis;

  function textOf(value) {
    try {
      if (value instanceof Error) return value.toString();
      return JSON.stringify(value) ?? String(value);
    } catch {
      return '[a value that has no text]';
    }
  }

  // Never throws.
  function log(...values) {
    let line = '';
    for (const value of values) line += `${textOf(value)} `;
    native.log(line);
  }

  // Of the bytes of a buffer, else of the JSON text: strings count with their quotes.
  const crc64 = (value) => native.crc64(
    value instanceof ArrayBuffer ? value : JSON.stringify(value) ?? '');

  Object.assign(globalThis, { log, crc64 });
  Object.assign(couchbase, {
    log,
    crc64,
    // Strings count without their quotes.
    crc_64_go_iso: (value) => native.crc64(
      value instanceof ArrayBuffer || typeof value === 'string' ? value : JSON.stringify(value) ?? ''),
  });
  return {};
})
