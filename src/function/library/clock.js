// Replaces Date when handlers see the time of a clock that a trial sets, not the machine's.
((native, configuration) => {
  'use strict';

  if (!configuration.usesClock) return {};

  // It stays the `constructor` of dates, which is frozen.
  const MachineDate = Date;
  const { prototype } = MachineDate;

  function SetDate(...parts) {
    if (new.target === undefined) return new MachineDate(native.now()).toString();
    const newTarget = new.target === SetDate ? MachineDate : new.target;
    return Reflect.construct(MachineDate, parts.length === 0 ? [native.now()] : parts, newTarget);
  }
  const define = (object, name, value) => Object.defineProperty(
    object, name, { value, writable: true, enumerable: false, configurable: true });
  define(SetDate, 'name', 'Date');
  define(SetDate, 'length', MachineDate.length);
  define(SetDate, 'now', () => native.now());
  define(SetDate, 'parse', MachineDate.parse);
  define(SetDate, 'UTC', MachineDate.UTC);
  SetDate.prototype = prototype;
  Object.defineProperty(globalThis, 'Date', {
    value: SetDate, writable: true, enumerable: false, configurable: true,
  });
  return {};
})
