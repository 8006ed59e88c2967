// startFlow(id, { body, header }): starts a flow when what the invocation does is committed.
((native) => {
  'use strict';

  // Returns the id of the run.
  function startFlow(id, input) {
    if (typeof id !== 'string' || id === '') {
      throw new EventingError(`startFlow: expected a flow's id, got ${typeof id}`);
    }
    return native.flowStart(id, JSON.stringify(input ?? {}));
  }

  Object.assign(globalThis, { startFlow });
  return {};
})
