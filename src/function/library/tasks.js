// Tasks of flows: the values that handleEvent may throw and return, and its entry point.
((native, configuration) => {
  'use strict';

  if (!configuration.task) return {};

  // throw new AppException(404, 'there is no such user')
  class AppException extends Error {
    constructor(status, message) {
      super(message);
      this.status = status;
    }

    get name() {
      return 'AppException';
    }
  }

  class IllegalArgumentException extends AppException {
    constructor(message) {
      super(400, message);
    }

    get name() {
      return 'IllegalArgumentException';
    }
  }

  // return new EventEnvelope().setStatus(201).setHeader('x', 'y').setBody({ ... })
  class EventEnvelope {
    #status = 200;

    #headers = {};

    #body;

    setStatus(status) {
      this.#status = status;
      return this;
    }

    setHeader(name, value) {
      this.#headers[name] = value;
      return this;
    }

    setBody(body) {
      this.#body = body;
      return this;
    }

    static parts(envelope) {
      return { status: envelope.#status, headers: envelope.#headers, body: envelope.#body };
    }
  }

  const { apply } = Reflect;
  const { then } = Promise.prototype;
  const { parts } = EventEnvelope;
  delete EventEnvelope.parts;
  Object.assign(globalThis, { AppException, IllegalArgumentException, EventEnvelope });

  class Failure {
    constructor(error) {
      this.status = error.status;
      this.body = String(error.message);
      this.stack = String(error.stack ?? '');
    }
  }

  let handle; // handleEvent at the first call; later changes have no effect
  let returned; // the value that it returned
  let settled; // { value } or { error } of a returned promise; null while it is pending

  function failureOf(error) {
    if (error instanceof Error && Number.isInteger(error.status)
      && error.status >= 400 && error.status < 600) return new Failure(error);
    throw error;
  }

  // Returns { status, headers, body }, or undefined after it has packed a value that is only a body.
  function answer() {
    if (returned instanceof Failure) return returned;
    if (returned instanceof EventEnvelope) return parts(returned);
    return native.pack(returned) ? undefined : { body: returned };
  }

  return {
    // `make` builds the input from pieces; without it the input is `a`.
    task(instance, headers, make, a, b, c, d, e, f, g, h) {
      settled = undefined;
      try {
        const input = make === undefined ? a : make(a, b, c, d, e, f, g, h);
        handle ??= globalThis.handleEvent;
        returned = handle.call(globalThis, headers ?? {}, input, instance);
      } catch (error) {
        returned = failureOf(error);
      }
      if (!(returned instanceof Promise)) return answer();
      settled = null;
      apply(then, returned, [
        (value) => { settled = { value }; },
        (error) => { settled = { error }; },
      ]);
      return undefined;
    },

    // The same after the promises are settled.
    answer() {
      if (settled === null) throw new Error('handleEvent returned a promise that nothing settles');
      if (settled !== undefined) {
        returned = 'error' in settled ? failureOf(settled.error) : settled.value;
      }
      return answer();
    },
  };
})
