// Functions of flows: what handleEvent may throw and return, and its entry point.
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

  const { parts } = EventEnvelope;
  delete EventEnvelope.parts;
  Object.assign(globalThis, { AppException, IllegalArgumentException, EventEnvelope });

  function failure(error) {
    return {
      status: error.status, body: String(error.message), stack: String(error.stack ?? ''),
    };
  }

  return {
    // Answers { status, headers, body }.
    task(headers, input, instance) {
      try {
        const result = globalThis.handleEvent(headers, input, instance);
        return result instanceof EventEnvelope ? parts(result) : { body: result };
      } catch (error) {
        if (error instanceof Error && Number.isInteger(error.status)
          && error.status >= 400 && error.status < 600) return failure(error);
        throw error;
      }
    },
  };
})
