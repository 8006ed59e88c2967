// Bucket bindings: as maps (`dest[key] = value`) and through couchbase.get, insert, upsert, replace,
// delete, increment, decrement and touch. The natives do the work; this file gives them the shape that
// handlers see.
((native, configuration, shared) => {
  'use strict';

  const { couchbase } = globalThis;
  const throwsWhenMissing = configuration.language === '6.0.0';
  const bindings = new WeakMap(); // what a handler holds -> the binding

  // --- values ---

  // Throws for a key of a map that is a symbol, and for values that have no JSON.
  function check(what, value, ErrorType = EventingError) {
    const problem = shared.invalidType(value);
    if (problem !== undefined) throw new ErrorType(`Invalid data type for ${what} - ${problem}`);
  }

  // The form that is stored: bytes stay bytes, everything else becomes JSON text.
  const payloadOf = (value) => (value instanceof ArrayBuffer ? value : JSON.stringify(value));

  // For the source, the message is that of Couchbase, which has it for every binding.
  function checkWritable(binding, words = 'Writing to source bucket is forbidden') {
    if (binding.writable) return;
    if (binding.source) throw new EventingError(words);
    const why = binding.access === 'r'
      ? `the access of binding ${binding.alias} is "r"` : 'rows of tables are written by statements';
    throw new EventingError(`${words.replace('source bucket', binding.alias)}: ${why}`);
  }

  // --- maps ---

  function checkMap(binding) {
    if (!binding.wildcard) return;
    throw new EventingError('Map accessor is not allowed for wild card keyspace binding. '
      + 'Please use advance keyspace accessor');
  }

  const notFound = {
    code: 1, name: 'LCB_ERR_DOCUMENT_NOT_FOUND', desc: 'LCB_ERR_DOCUMENT_NOT_FOUND (301)',
  };

  function makeMap(binding) {
    const { index } = binding;
    return new Proxy(Object.create(null), {
      get(target, key) {
        if (typeof key === 'symbol') return undefined;
        checkMap(binding);
        const found = native.get(index, key, throwsWhenMissing);
        if (found === undefined && throwsWhenMissing) throw new KVError(notFound);
        return found;
      },
      set(target, key, value) {
        check('key', key);
        check('value', value);
        checkWritable(binding);
        checkMap(binding);
        native.set(index, key, payloadOf(value));
        return true;
      },
      deleteProperty(target, key) {
        check('key', key, KVError);
        checkWritable(binding, 'Delete from source bucket is forbidden');
        checkMap(binding);
        if (!native.remove(index, key) && throwsWhenMissing) throw new KVError(notFound);
        return true;
      },
      has(target, key) {
        if (typeof key === 'symbol') return false;
        checkMap(binding);
        return native.get(index, key) !== undefined;
      },
      defineProperty() {
        throw new EventingError('A bucket binding has no properties of its own');
      },
      getPrototypeOf() {
        return null;
      },
    });
  }

  configuration.buckets.forEach((bucket, index) => {
    const binding = { ...bucket, index };
    const map = makeMap(binding);
    bindings.set(map, binding);
    globalThis[bucket.alias] = map;
  });

  // --- advanced accessors ---

  const soft = {
    'document.not_found': {
      code: 1, name: 'LCB_KEY_ENOENT', desc: 'The document key does not exist on the server',
      key_not_found: true,
    },
    'document.exists': {
      code: 2, name: 'LCB_KEY_EEXISTS', desc: 'The document key already exists in the server.',
      key_already_exists: true,
    },
    'document.cas_mismatch': {
      code: 2, name: 'LCB_KEY_EEXISTS',
      desc: 'The document key exists with a CAS value different than specified',
      cas_mismatch: true,
    },
    'subdoc.path_not_found': {
      code: 192, name: 'LCB_ERR_SUBDOC_PATH_NOT_FOUND',
      desc: 'The path does not exist in the document', field_not_found: true,
    },
    'subdoc.path_exists': {
      code: 201, name: 'LCB_ERR_SUBDOC_PATH_EXISTS',
      desc: 'The path exists in the document already', field_already_exists: true,
    },
    'document.not_counter': {
      code: 6, name: 'LCB_DELTA_BADVAL', desc: 'counter value cannot be parsed as a number', not_number: true,
    },
  };

  const failure = (status) => ({ success: false, error: { ...soft[status] } });

  function resultMeta(meta, cas, expiry, datatype) {
    const result = { id: String(meta.id), cas };
    if (expiry > 0) result.expiry_date = new Date(expiry * 1000);
    if (datatype !== undefined) result.datatype = datatype;
    return result;
  }

  function bindingOf(name, count, values) {
    if (values.length < count) {
      throw new TypeError(`couchbase.${name} requires at least ${count} arguments`);
    }
    if (values[0] === undefined || values[0] === null) {
      throw new TypeError('1st argument should be object');
    }
    const binding = bindings.get(values[0]);
    if (binding === undefined) throw new TypeError('1st argument should be bucket object');
    return binding;
  }

  // `honours`: the members that the call reads besides the key; all others are ignored.
  function checkMeta(meta, ...honours) {
    if (typeof meta !== 'object' || meta === null) {
      throw new TypeError('2nd argument should be object');
    }
    if (!('id' in meta)) {
      throw new TypeError('document key is not present in 2nd argument');
    }
    const problem = shared.invalidType(meta.id);
    if (problem !== undefined) throw new TypeError(`Invalid data type for metaId: ${problem}`);
    if (String(meta.id) === '') throw new TypeError('document key cannot be empty');
    if (honours.includes('cas') && meta.cas !== undefined && typeof meta.cas !== 'string') {
      throw new TypeError('cas should be a string');
    }
    if (honours.includes('expiry') && meta.expiry_date !== undefined
      && !(meta.expiry_date instanceof Date)) {
      throw new TypeError('expiry should be a date object');
    }
  }

  function checkDocument(value) {
    const problem = shared.invalidType(value);
    if (problem !== undefined) {
      throw new TypeError(`Invalid data type for 3rd argument: ${problem}`);
    }
  }

  // The options, which may be left out: the arguments from `index` on.
  function optionsOf(values, index) {
    if (values.length <= index) return {};
    const options = values[index];
    if (typeof options !== 'object' || options === null) {
      throw new TypeError('options argument, if present, must be object');
    }
    for (const [name, shown] of [['cache', 'cache'], ['self_recursion', 'recursion']]) {
      if (name in options && typeof options[name] !== 'boolean') {
        throw new TypeError(`the '${shown}' parameter in options should be a boolean`);
      }
    }
    return options;
  }

  // [binding, key, scope, collection]: the place of a document. For a wildcard binding the call names
  // the parts that the binding leaves open.
  function placeOf(binding, meta) {
    const keyspace = meta.keyspace ?? {};
    if (binding.wildcard && typeof keyspace !== 'object') {
      throw new TypeError('keyspace should be an object');
    }
    const open = (part, name) => {
      if (binding[part] !== '*') return binding[part];
      if (typeof keyspace[name] !== 'string') {
        throw new TypeError(`meta.keyspace.${name} is needed: the binding stands for many keyspaces`);
      }
      return keyspace[name];
    };
    return [binding.index, String(meta.id), open('scope', 'scope_name'),
      open('collection', 'collection_name')];
  }

  const seconds = (date) => (date === undefined ? 0 : Math.floor(date.getTime() / 1000));

  function store(operation) {
    return (...values) => {
      const [, meta, value] = values;
      const binding = bindingOf(operation, 3, values);
      checkWritable(binding);
      checkMeta(meta, 'expiry', operation === 'replace' ? 'cas' : '');
      checkDocument(value);
      const options = optionsOf(values, 3);
      const cas = operation === 'replace' ? meta.cas : undefined;
      const [status, stamp] = native.store(operation, ...placeOf(binding, meta), payloadOf(value),
        cas ?? '', seconds(meta.expiry_date), options.self_recursion === true);
      if (status !== '') return failure(status);
      return { success: true, meta: resultMeta(meta, stamp, seconds(meta.expiry_date)) };
    };
  }

  function count(delta) {
    return (...values) => {
      const [, meta] = values;
      const binding = bindingOf('counter', 2, values);
      checkWritable(binding);
      checkMeta(meta);
      const [status, stamp, value] = native.count(...placeOf(binding, meta), delta);
      if (status !== '') return failure(status);
      return { success: true, meta: resultMeta(meta, stamp, 0), doc: { count: value } };
    };
  }

  shared.accessors = {
    bindingOf, checkMeta, checkWritable, failure, optionsOf, placeOf, resultMeta, seconds,
  };

  Object.assign(couchbase, {
    get(...values) {
      const [, meta] = values;
      const binding = bindingOf('get', 2, values);
      checkMeta(meta);
      const options = optionsOf(values, 2);
      const found = native.fetch(...placeOf(binding, meta), options.cache === true);
      if (found === undefined) return failure('document.not_found');
      const [doc, cas, expiry, datatype] = found;
      return { success: true, meta: resultMeta(meta, cas, expiry, datatype), doc };
    },
    insert: store('insert'),
    upsert: store('upsert'),
    replace: store('replace'),
    delete(...values) {
      const [, meta] = values;
      const binding = bindingOf('delete', 2, values);
      checkWritable(binding, 'Delete from source bucket is forbidden');
      checkMeta(meta, 'cas');
      const status = native.erase(...placeOf(binding, meta), meta.cas ?? '');
      return status === '' ? { success: true, meta: { id: String(meta.id) } } : failure(status);
    },
    touch(...values) {
      const [, meta] = values;
      const binding = bindingOf('touch', 2, values);
      checkWritable(binding, 'Touch operation is forbidden');
      checkMeta(meta, 'expiry');
      const [status, stamp] = native.touch(...placeOf(binding, meta), seconds(meta.expiry_date));
      if (status !== '') return failure(status);
      return { success: true, meta: resultMeta(meta, stamp, seconds(meta.expiry_date)) };
    },
    increment: count(1),
    decrement: count(-1),
    bindingDetails(...values) {
      const found = bindingOf('bindingDetails', 1, values);
      return {
        access: found.writable ? 'rw' : 'r',
        keyspace: { bucket: found.bucket, scope: found.scope, collection: found.collection },
      };
    },
  });
  return {};
})
