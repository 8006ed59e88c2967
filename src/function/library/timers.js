// createTimer and cancelTimer. A timer calls a function of the handler's top level by its name.
((native) => {
  'use strict';

  const { couchbase } = globalThis;
  const { getTime } = Date.prototype;

  // The name of a function of the handler's top level.
  function nameOf(callback, caller) {
    const name = typeof callback === 'function' ? callback.name : '';
    if (typeof name !== 'string' || name === '' || globalThis[name] !== callback) {
      throw new EventingError(`First argument to ${caller} must be a valid global function`);
    }
    return name;
  }

  function timeOf(date) {
    let time = NaN;
    try {
      time = Reflect.apply(getTime, date, []);
    } catch {
      throw new EventingError('Second argument to createTimer must be a Date object instance');
    }
    if (Number.isNaN(time)) {
      throw new EventingError('Unable to compute epoch for the given Date instance');
    }
    return Math.max(time, 0);
  }

  // A timer with the same callback and reference is replaced. Returns the reference.
  function createTimer(...values) {
    if (values.length < 3) {
      throw new EventingError(
        'createTimer needs atleast 3 arguments - callback function, time, reference');
    }
    const [callback, date, reference, context] = values;
    const name = nameOf(callback, 'createTimer');
    const time = timeOf(date);
    if (typeof reference !== 'string' && reference !== null && reference !== undefined) {
      throw new EventingError(
        'Third argument to createTimer must be a string (or null to generate an ID)');
    }
    const made = native.timerCreate(name, time, reference ?? undefined, JSON.stringify(context));
    return reference ?? made;
  }

  // Returns false if there is no such timer.
  function cancelTimer(...values) {
    if (values.length < 2) {
      throw new EventingError('cancelTimer needs 2 arguments - callback function, reference');
    }
    const [callback, reference] = values;
    const name = nameOf(callback, 'cancelTimer');
    if (typeof reference !== 'string') {
      throw new EventingError('Second argument to cancelTimer must be a string');
    }
    return native.timerCancel(name, reference);
  }

  Object.assign(globalThis, { createTimer, cancelTimer });
  Object.assign(couchbase, { createTimer, cancelTimer });
  return {};
})
