// What a file of migrations finds, and how the server calls its steps. The file is the body of a
// function (`migrationFile`, see script_steps.cc) that runs for each document anew: nothing that a
// step leaves behind is there for the next one.
(() => (native, configuration) => {
  'use strict';

  const isObject = (value) => typeof value === 'object' && value !== null;

  function load() {
    const module = {exports: {}};
    globalThis.migrationFile(module, module.exports);
    if (!isObject(module.exports)) throw new TypeError('module.exports must be an object');
    return module.exports;
  }

  return {
    // The names of what the file exports; null instead of a name for what is no function.
    list() {
      const steps = load();
      return Object.keys(steps).map((name) => [name, typeof steps[name] === 'function']);
    },
    // undefined for what returns undefined or null. `stored` is null unless a write replaces it.
    run(name, doc, id, type, from, to, stored) {
      const made = load()[name](doc, Object.freeze({id, type, from, to, stored}));
      return made === null ? undefined : made;
    },
  };
})()
