// log, the checksums and Base64.
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

  function onlyOne(values) {
    if (values.length !== 1) throw new EventingError('Need one parameter');
    return values[0];
  }

  // A value without JSON text counts as the word.
  const jsonOf = (value) => JSON.stringify(value) ?? 'undefined';

  // Of the bytes of a buffer, else of the JSON text: strings count with their quotes.
  function crc64(...values) {
    const value = onlyOne(values);
    return native.crc64(value instanceof ArrayBuffer ? value : jsonOf(value));
  }

  // Strings count without their quotes.
  function crc64GoIso(...values) {
    const value = onlyOne(values);
    return native.crc64(
      value instanceof ArrayBuffer || typeof value === 'string' ? value : jsonOf(value));
  }

  // --- Base64 ---

  const bytesOf = (value) => (ArrayBuffer.isView(value)
    ? value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength) : value);

  // Of the bytes of a buffer, the text of a string, the JSON text of anything else.
  function base64Encode(...values) {
    const value = onlyOne(values);
    if (typeof value === 'string') return native.base64Encode(value);
    if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) {
      return native.base64Encode(bytesOf(value));
    }
    try {
      return native.base64Encode(jsonOf(value));
    } catch (error) {
      throw new EventingError(error.message); // a BigInt, or an object that is its own part
    }
  }

  function checkText(name, text) {
    if (typeof text !== 'string') throw new EventingError(`${name} requires a string`);
  }

  function base64Decode(text) {
    checkText('base64Decode', text);
    return native.base64Decode(text, false);
  }

  // Numbers of `size` bytes each, least significant byte first.
  const encodeFloats = (name, size, set) => (numbers) => {
    if (!Array.isArray(numbers) && !(ArrayBuffer.isView(numbers) && 'length' in numbers)) {
      throw new EventingError(`${name} requires an array of numbers`);
    }
    const view = new DataView(new ArrayBuffer(numbers.length * size));
    for (let i = 0; i < numbers.length; i += 1) {
      if (typeof numbers[i] !== 'number') {
        throw new EventingError(`${name} requires an array of numbers`);
      }
      set.call(view, i * size, numbers[i], true);
    }
    return native.base64Encode(view.buffer);
  };
  const decodeFloats = (name, size, get) => (text) => {
    checkText(name, text);
    const view = new DataView(native.base64Decode(text, true));
    if (view.byteLength % size !== 0) {
      throw new EventingError(
        `${name} requires numbers of ${size} bytes, got ${view.byteLength} bytes`);
    }
    return Array.from({ length: view.byteLength / size }, (_, i) => get.call(view, i * size, true));
  };
  const floats = DataView.prototype;

  Object.assign(couchbase, {
    base64Encode,
    base64Decode,
    base64Float32ArrayEncode: encodeFloats('base64Float32ArrayEncode', 4, floats.setFloat32),
    base64Float32ArrayDecode: decodeFloats('base64Float32ArrayDecode', 4, floats.getFloat32),
    base64Float64ArrayEncode: encodeFloats('base64Float64ArrayEncode', 8, floats.setFloat64),
    base64Float64ArrayDecode: decodeFloats('base64Float64ArrayDecode', 8, floats.getFloat64),
  });

  Object.assign(globalThis, { log, crc64 });
  Object.assign(couchbase, {
    log,
    crc64,
    crc_64_go_iso: crc64GoIso,
  });
  return {};
})
