// Hands results over to the server: writes a value into two arrays that it reads, which takes a
// fraction of the time of JSON text. Evaluates to a function of these arrays (pack.h says what is
// where), which gives the one that packs.
//
// That one says false of what it does not do: a text with other than ASCII, a value that is large,
// deep or no plain object or array, or has a toJSON. Of these JSON.stringify makes the text; they may
// be read twice.
((words, text) => {
  'use strict';

  const NULL = 0;
  const FALSE = 1;
  const TRUE = 2;
  const NUMBER = 3;
  const STRING = 4;
  const ARRAY = 5;
  const OBJECT = 6;
  const UNDEFINED = 7;
  const END = -1;

  const MAX_DEPTH = 16;
  // What a program can change is looked up before there is one.
  const ALL_WORDS = words.length;
  const MAX_WORDS = ALL_WORDS - 4; // a value without its contents takes three
  const MAX_TEXT = text.length;
  const {MAX_SAFE_INTEGER, MIN_SAFE_INTEGER} = Number;
  const {getPrototypeOf, prototype: plain} = Object;
  const {isArray, prototype: list} = Array;

  let word = 0;
  let byte = 0;

  function addText(value) {
    const {length} = value;
    if (byte + length > MAX_TEXT) return false;
    words[word++] = length;
    let seen = 0;
    for (let i = 0; i < length; ++i) {
      const code = value.charCodeAt(i);
      seen |= code;
      text[byte + i] = code;
    }
    byte += length;
    return (seen & ~0x7f) === 0;
  }

  function addNumber(value) {
    if (value - value !== 0) { // NaN, infinite
      words[word++] = NULL;
      return true;
    }
    words[word++] = NUMBER;
    words[word++] = value + 0; // no -0
    // The text of others does not have all their digits.
    return value <= MAX_SAFE_INTEGER && value >= MIN_SAFE_INTEGER;
  }

  const isLeftOut = (value) => value === undefined || typeof value === 'symbol'
    || (typeof value === 'function' && value.toJSON === undefined);

  function addItems(value, depth) {
    if (value.toJSON !== undefined) return false;
    words[word++] = ARRAY;
    const {length} = value;
    for (let i = 0; i < length; ++i) {
      const item = value[i];
      if (!add(isLeftOut(item) ? null : item, depth)) return false; // eslint-disable-line no-use-before-define
    }
    words[word++] = END;
    return true;
  }

  function addFields(value, depth) {
    if (value.toJSON !== undefined) return false;
    words[word++] = OBJECT;
    for (const name in value) { // eslint-disable-line no-restricted-syntax, guard-for-in
      const field = value[name];
      if (isLeftOut(field)) continue;
      if (word > MAX_WORDS || !addText(name)) return false;
      if (!add(field, depth)) return false; // eslint-disable-line no-use-before-define
    }
    words[word++] = END;
    return true;
  }

  function add(value, depth) {
    if (word > MAX_WORDS || depth > MAX_DEPTH) return false;
    switch (typeof value) {
      case 'number':
        return addNumber(value);
      case 'string':
        words[word++] = STRING;
        return addText(value);
      case 'boolean':
        words[word++] = value ? TRUE : FALSE;
        return true;
      case 'undefined':
        words[word++] = UNDEFINED;
        return true;
      case 'object': {
        if (value === null) {
          words[word++] = NULL;
          return true;
        }
        const prototype = getPrototypeOf(value);
        if (prototype === plain) {
          return isArray(value) ? addItems(value, depth + 1) : addFields(value, depth + 1);
        }
        return prototype === list && isArray(value) && addItems(value, depth + 1);
      }
      default:
        return false;
    }
  }

  // What a program has given to all objects would be among their names, or say how they are printed.
  let isInherited;
  function inherits() {
    for (const name in {}) return name !== undefined; // eslint-disable-line no-restricted-syntax, guard-for-in, no-unreachable-loop
    return 'toJSON' in plain;
  }

  return (value) => {
    isInherited ??= inherits();
    word = 1;
    byte = 0;
    words[0] = 0;
    if (isInherited || !add(value, 0) || word > ALL_WORDS) return false; // ends may not fit
    words[0] = word;
    return true;
  };
})
