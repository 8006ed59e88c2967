// curl(method, binding[, request]): HTTP requests to URL bindings. This file turns values into bodies
// and bodies into values; the native makes the request.
((native, configuration) => {
  'use strict';

  const bindings = new WeakMap(); // what a handler holds -> the binding's position
  configuration.urls.forEach(({ alias, hostname }, index) => {
    const binding = { alias, hostname };
    bindings.set(binding, index);
    globalThis[alias] = binding;
  });

  const methods = ['GET', 'POST', 'PUT', 'HEAD', 'DELETE'];
  const encodings = ['FORM', 'JSON', 'TEXT', 'BINARY'];
  const versions = ['6.0.0', '6.5.0', '6.6.2', '7.1.0', '7.2.0'];

  function refuse(text) {
    throw new CurlError(text);
  }

  // --- percent-encoding ---

  const lone = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

  // Everything but letters, digits and -._~
  const encode = (text) => encodeURIComponent(text.replace(lone, '\uFFFD'))
    .replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

  // Text that is no percent-encoding stays as it is.
  function decode(text) {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  }

  function textOf(value, what) {
    if (typeof value === 'string') return value;
    const text = JSON.stringify(value);
    if (text === undefined) refuse(`A value of ${what} can't be ${typeof value}`);
    return text;
  }

  const pairs = (object, what, convert) => Object.entries(object)
    .map(([name, value]) => `${convert(name)}=${convert(textOf(value, what))}`).join('&');

  const asIs = (text) => text;

  // Names and values of a query, which stay where they are.
  const encodeQuery = (query) => query.split('&').map((part) => {
    const equals = part.indexOf('=');
    return equals < 0 ? encode(part)
      : `${encode(part.slice(0, equals))}=${encode(part.slice(equals + 1))}`;
  }).join('&');

  function queryOf(params, version) {
    if (params === undefined || params === null) return '';
    if (typeof params === 'string') {
      if (version === '7.2.0') return params;
      return version === '7.1.0' ? encodeQuery(params) : encode(params);
    }
    if (typeof params !== 'object') refuse("'params' should be an object or a string");
    return pairs(params, "'params'", version === '7.2.0' ? asIs : encode);
  }

  function pathOf(path, version) {
    if (path === undefined || path === null) return '';
    if (typeof path !== 'string') refuse("'path' should be a string");
    if (version !== '7.1.0') return path;
    const mark = path.indexOf('?');
    const segments = (text) => text.split('/').map(encode).join('/');
    return mark < 0 ? segments(path)
      : `${segments(path.slice(0, mark))}?${encodeQuery(path.slice(mark + 1))}`;
  }

  // --- request ---

  const bytesOf = (value) => (value instanceof ArrayBuffer
    ? value : value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength));
  const form = (value) => (typeof value === 'object' && value !== null
    ? pairs(value, "'body'", encode) : encode(textOf(value, "'body'")));

  // By type of the value and encoding: the form in which it is sent, and its content type.
  const text = [asIs, 'text/plain'];
  const json = [(value) => JSON.stringify(value) ?? refuse(`'body' can't be ${typeof value}`),
    'application/json'];
  const urlEncoded = [form, 'application/x-www-form-urlencoded'];
  const binary = [asIs, 'application/octet-stream'];
  const raw = [bytesOf, 'application/octet-stream'];
  const marshalling = {
    string: { none: text, TEXT: text, FORM: urlEncoded, JSON: json, BINARY: binary },
    object: { none: json, FORM: urlEncoded, JSON: json },
    ArrayBuffer: { none: raw, BINARY: raw },
  };

  function typeOf(value) {
    if (typeof value === 'string') return 'string';
    return value instanceof ArrayBuffer || ArrayBuffer.isView(value) ? 'ArrayBuffer' : 'object';
  }

  // [body, content type]
  function bodyOf({ body, encoding }) {
    if (encoding !== undefined && !encodings.includes(encoding)) {
      refuse(`'encoding' should be one of ${encodings.join(', ')}`);
    }
    if (body === undefined) return [];
    const type = typeOf(body);
    const way = marshalling[type][encoding ?? 'none'];
    if (way === undefined) refuse(`A body that is ${type} can't be encoded as ${encoding}`);
    const [convert, contentType] = way;
    return [convert(body), contentType];
  }

  // One line each.
  function headersOf(headers, contentType) {
    if (headers !== undefined && (typeof headers !== 'object' || headers === null)) {
      refuse("'headers' should be an object");
    }
    let typed = contentType === undefined;
    const lines = [];
    for (const [name, given] of Object.entries(headers ?? {})) {
      const value = textOf(given, `the header ${name}`).trim(); // that of a response can be sent on
      if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) || /[\r\n\0]/.test(value)) {
        refuse(`The header ${JSON.stringify(name)} has characters that headers can't have`);
      }
      const lower = name.toLowerCase();
      typed ||= lower === 'content-type';
      // Headers about the length of the body are made from the body.
      if (lower !== 'content-length' && lower !== 'transfer-encoding') {
        lines.push(value === '' ? `${name};` : `${name}: ${value}`);
      }
    }
    if (!typed) lines.push(`Content-Type: ${contentType}`);
    return lines.join('\n');
  }

  function timeoutOf(timeout) {
    if (timeout === undefined) return 0;
    if (!Number.isInteger(timeout) || timeout <= 0) {
      refuse("'timeout' should be a positive integer");
    }
    return timeout;
  }

  function versionOf(version) {
    const chosen = version ?? configuration.language;
    if (!versions.includes(chosen)) {
      refuse(`'url_encode_version' should be one of ${versions.join(', ')}`);
    }
    return chosen;
  }

  // --- response ---

  function formOf(encoded) {
    const parts = encoded.split('&').map((part) => {
      const equals = part.indexOf('=');
      return equals < 0 ? undefined : [part.slice(0, equals), part.slice(equals + 1)];
    });
    if (parts.includes(undefined)) return decode(encoded);
    return Object.fromEntries(parts.map(([name, value]) => [
      decode(name.replace(/\+/g, ' ')), decode(value.replace(/\+/g, ' '))]));
  }

  function unmarshal(kind, body) {
    if (body === null || kind === 'text' || kind === 'bytes') return body;
    if (kind === 'form') return formOf(body);
    try {
      return JSON.parse(body);
    } catch (error) {
      return refuse(`Unable to parse the response's body as JSON: ${error.message}`);
    }
  }

  function responseOf([status, kind, body, ...fields]) {
    const headers = new Map();
    for (let i = 0; i < fields.length; i += 2) {
      headers.set(fields[i], (headers.get(fields[i]) ?? '') + fields[i + 1]);
    }
    return { body: unmarshal(kind, body), status, headers: Object.fromEntries(headers) };
  }

  function curl(method, binding, request = {}) {
    if (!methods.includes(method)) {
      refuse(`The 1st argument should be one of ${methods.join(', ')}`);
    }
    const index = bindings.get(binding);
    if (index === undefined) refuse('The 2nd argument should be a URL binding');
    if (typeof request !== 'object' || request === null) {
      refuse('The 3rd argument should be an object');
    }
    const { redirect = true } = request;
    if (typeof redirect !== 'boolean') refuse("'redirect' should be a boolean");
    const version = versionOf(request.url_encode_version);
    const [body, contentType] = bodyOf(request);
    return responseOf(native.curl(index, method, pathOf(request.path, version),
      queryOf(request.params, version), headersOf(request.headers, contentType), body, redirect,
      timeoutOf(request.timeout)));
  }

  globalThis.curl = curl;
  globalThis.couchbase.curl = curl;
  return {};
})
