// couchbase.mutateIn and lookupIn: parts of documents, and the specs that name them.
((native, configuration, shared) => {
  'use strict';

  const { couchbase } = globalThis;
  const {
    bindingOf, checkMeta, checkWritable, failure, optionsOf, placeOf, resultMeta, seconds,
  } = shared.accessors;

  const kinds = new WeakMap(); // a spec -> 'MutateInSpec' or 'LookupInSpec'

  function specOf(kind, op, path, text, options) {
    if (typeof path !== 'string') throw new TypeError('path should be a string');
    const xattrs = options?.xattrs === true;
    const root = path.split(/[.[]/, 1)[0];
    if (xattrs && (root === '' || root.length > 15 || root.startsWith('_'))) {
      throw new TypeError('an extended attribute has 1 to 15 characters and does not begin with _');
    }
    const spec = { op, path, create_path: options?.create_path === true, xattrs };
    if (text !== undefined) spec.value = text;
    kinds.set(Object.freeze(spec), kind);
    return spec;
  }

  const withValue = (op) => (path, value, options) => {
    const text = JSON.stringify(value);
    if (text === undefined) throw new TypeError(`the value of ${op} can't be ${typeof value}`);
    return specOf('MutateInSpec', op, path, text, options);
  };

  const MutateInSpec = {
    remove: (path, options) => specOf('MutateInSpec', 'remove', path, undefined, options),
  };
  for (const op of ['insert', 'upsert', 'replace', 'arrayAppend', 'arrayPrepend', 'arrayInsert',
    'arrayAddUnique']) {
    MutateInSpec[op] = withValue(op);
  }
  const LookupInSpec = {
    get: (path, options) => specOf('LookupInSpec', 'get', path, undefined, options),
  };

  function textOf(specs, kind) {
    if (!Array.isArray(specs)) {
      throw new TypeError("the 'subdoc operations' parameter should be an array");
    }
    for (const spec of specs) {
      if (kinds.get(spec) !== kind) throw new TypeError(`3rd argument should be of ${kind}s`);
    }
    return JSON.stringify(specs);
  }

  Object.assign(couchbase, {
    MutateInSpec,
    LookupInSpec,
    mutateIn(...values) {
      const [, meta, specs] = values;
      const binding = bindingOf('mutateIn', 3, values);
      checkWritable(binding);
      checkMeta(meta, 'cas', 'expiry');
      const options = optionsOf(values, 3);
      const expiry = meta.expiry_date === undefined ? -1 : seconds(meta.expiry_date);
      const [status, stamp, kept] = native.mutateIn(...placeOf(binding, meta),
        textOf(specs, 'MutateInSpec'), meta.cas ?? '', expiry, options.self_recursion === true);
      if (status !== '') return failure(status);
      return { success: true, meta: resultMeta(meta, stamp, kept) };
    },
    lookupIn(...values) {
      const [, meta, specs] = values;
      const binding = bindingOf('lookupIn', 3, values);
      checkMeta(meta);
      const found = native.lookupIn(...placeOf(binding, meta), textOf(specs, 'LookupInSpec'));
      if (found === undefined) return failure('document.not_found');
      const [doc, cas, expiry] = found;
      return { success: true, meta: resultMeta(meta, cas, expiry), doc };
    },
  });
  return {};
})
