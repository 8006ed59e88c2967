// createTimer and cancelTimer. A timer calls a function of the handler's top level by its name.
((native) => {
  'use strict';

  const { couchbase } = globalThis;
  const { getTime } = Date.prototype;

  function nameOf(callback) {
    if (typeof callback !== 'function') {
      throw new EventingError(`A timer's callback must be a function, got ${typeof callback}`);
    }
    const { name } = callback;
    if (name === '') throw new EventingError('Anonymous function is not allowed');
    if (typeof name !== 'string' || globalThis[name] !== callback) {
      throw new EventingError("A timer's callback must be a function of the handler's top level");
    }
    return name;
  }

  function timeOf(date) {
    let time = NaN;
    try {
      time = Reflect.apply(getTime, date, []);
    } catch {
      throw new EventingError(`A timer's time must be a Date, got ${typeof date}`);
    }
    if (Number.isNaN(time)) throw new EventingError("A timer's time must be a valid Date");
    return Math.max(time, 0);
  }

  // The same callback and reference again replace the timer. Returns the reference.
  function createTimer(callback, date, reference, context) {
    const name = nameOf(callback);
    const time = timeOf(date);
    if (typeof reference !== 'string' && reference !== null && reference !== undefined) {
      throw new EventingError(
        `A timer's reference must be a string, or null for a new one, got ${typeof reference}`);
    }
    const made = native.timerCreate(name, time, reference ?? undefined, JSON.stringify(context));
    return reference ?? made;
  }

  // False when there is no such timer, or no more.
  function cancelTimer(callback, reference) {
    const name = nameOf(callback);
    if (typeof reference !== 'string') {
      throw new EventingError(`A timer's reference must be a string, got ${typeof reference}`);
    }
    return native.timerCancel(name, reference);
  }

  Object.assign(globalThis, { createTimer, cancelTimer });
  Object.assign(couchbase, { createTimer, cancelTimer });
  return {};
})
