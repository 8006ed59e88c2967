// startFlow(id, { body, header }): starts a flow when the invocation is committed.
// readStream(id, offset, size): reads a piece of a body that is too large for a value; readStreamText
// reads it as text.
((native) => {
  'use strict';

  // Returns the id of the run.
  function startFlow(id, input) {
    if (typeof id !== 'string' || id === '') {
      throw new EventingError(`startFlow: expected a flow's id, got ${typeof id}`);
    }
    return native.flowStart(id, JSON.stringify(input ?? {}));
  }

  const PIECE = 65536;

  function checkStream(name, id) {
    if (typeof id !== 'string') {
      throw new EventingError(`${name}: expected a stream's id, got ${typeof id}`);
    }
  }

  function piece(data, offset, size, total) {
    const next = offset + size;
    return { data, offset, next, more: next < total, total };
  }

  // data is an ArrayBuffer.
  function readStream(id, offset = 0, size = PIECE) {
    checkStream('readStream', id);
    const [data, total] = native.streamRead(id, offset, size, false);
    return piece(data, offset, data.byteLength, total);
  }

  // data is a string of whole characters.
  function readStreamText(id, offset = 0, size = PIECE) {
    checkStream('readStreamText', id);
    const [data, read, total] = native.streamRead(id, offset, size, true);
    return piece(data, offset, read, total);
  }

  Object.assign(globalThis, { startFlow, readStream, readStreamText });
  return {};
})
