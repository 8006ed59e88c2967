// Makes everything that a program finds immutable, so that nothing it does in one run is seen by the
// next: no global variable, no property of a function, no changed prototype. Evaluates to a function
// that does so, called once, when library and program are there. (Not when the snapshot is made: V8
// adds to the built-ins when it makes a context from one.)
(() => {
  'use strict';

  // Prototypes that nothing refers to but what certain calls return.
  const hidden = [];
  if (typeof Intl === 'object') {
    const segments = new Intl.Segmenter('en').segment('a');
    hidden.push(Object.getPrototypeOf(segments), Object.getPrototypeOf(segments[Symbol.iterator]()));
  }
  if (typeof Iterator === 'function' && typeof Iterator.from === 'function') {
    hidden.push(Object.getPrototypeOf(Iterator.from({ next: () => ({ done: true }) })));
    if (typeof Iterator.prototype.map === 'function') {
      hidden.push(Object.getPrototypeOf([].values().map((value) => value)));
    }
  }

  return () => {
    // Things that work behind a program's back or keep state of their own.
    for (const name of ['WebAssembly', 'SharedArrayBuffer', 'Atomics', 'WeakRef',
      'FinalizationRegistry', 'console']) {
      delete globalThis[name];
    }
    // RegExp.$1 and friends remember the last match.
    for (const name of Object.getOwnPropertyNames(RegExp)) {
      if (!['length', 'name', 'prototype'].includes(name)) delete RegExp[name];
    }

    const {
      defineProperty, freeze, getOwnPropertyDescriptor, getPrototypeOf, preventExtensions,
    } = Object;
    const {ownKeys} = Reflect;

    // A frozen prototype would make `object.toString = f` fail for every object that inherits from it.
    // So these properties become accessors: reading gives the original, writing defines the object's
    // own property, as it would if the prototype were not frozen.
    function allowOverride(prototype, key) {
      const descriptor = getOwnPropertyDescriptor(prototype, key);
      if (descriptor === undefined || !('value' in descriptor) || !descriptor.configurable) return;
      const {value} = descriptor;
      defineProperty(prototype, key, {
        configurable: false,
        enumerable: descriptor.enumerable,
        get: freeze(() => value),
        set: freeze(function set(next) {
          if (this === prototype) {
            throw new TypeError(`Cannot assign to '${String(key)}' of a built-in prototype`);
          }
          defineProperty(this, key, {
            value: next, writable: true, enumerable: true, configurable: true,
          });
        }),
      });
    }
    const errors = [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError];
    for (const key of ownKeys(Object.prototype)) {
      if (key !== '__proto__') allowOverride(Object.prototype, key);
    }
    for (const key of ['constructor', 'toString', 'name']) allowOverride(Function.prototype, key);
    for (const key of ['constructor', 'toString']) {
      allowOverride(Array.prototype, key);
      allowOverride(Date.prototype, key);
      allowOverride(RegExp.prototype, key);
    }
    for (const {prototype} of errors) {
      for (const key of ['constructor', 'message', 'name', 'toString']) allowOverride(prototype, key);
    }

    // What freeze does, but V8 does not take the object's elements for read-only then. If it does so of
    // a prototype of arrays, every store to an array leaves the optimised code.
    function freezeNames(object) {
      for (const key of ownKeys(object)) {
        const change = { __proto__: null, configurable: false };
        if ('value' in getOwnPropertyDescriptor(object, key)) change.writable = false;
        defineProperty(object, key, change);
      }
      preventExtensions(object);
    }
    const ofArrays = new Set([Object.prototype, Array.prototype]);
    for (const name of ['Int8', 'Uint8', 'Uint8Clamped', 'Int16', 'Uint16', 'Int32', 'Uint32', 'Float32',
      'Float64', 'BigInt64', 'BigUint64']) {
      const type = globalThis[`${name}Array`]; // a program may have removed it
      if (typeof type !== 'function' || typeof type.prototype !== 'object') continue;
      ofArrays.add(type.prototype).add(getPrototypeOf(type.prototype));
    }

    const seen = new Set();
    function harden(root) {
      const pending = [root];
      while (pending.length > 0) {
        const value = pending.pop();
        const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function';
        if (!isObject || seen.has(value)) continue;
        seen.add(value);
        if (ArrayBuffer.isView(value)) continue; // can't be frozen
        if (ofArrays.has(value)) {
          freezeNames(value);
        } else if (value !== globalThis) {
          freeze(value);
        }
        pending.push(getPrototypeOf(value));
        for (const key of ownKeys(value)) {
          const descriptor = getOwnPropertyDescriptor(value, key);
          if ('value' in descriptor) {
            pending.push(descriptor.value);
          } else {
            pending.push(descriptor.get, descriptor.set);
          }
        }
      }
    }

    // Reached through syntax only.
    harden(function* () {}); // eslint-disable-line no-empty-function
    harden(async () => {});
    harden(async function* () {}); // eslint-disable-line no-empty-function
    harden([][Symbol.iterator]());
    harden(''[Symbol.iterator]());
    harden(new Map()[Symbol.iterator]());
    harden(new Set()[Symbol.iterator]());
    harden(/a/[Symbol.matchAll](''));
    hidden.forEach(harden);
    harden(globalThis);
    freeze(globalThis);
  };
})();
