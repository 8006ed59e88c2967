// What the other files share.

export const RETRY_FIRST_MS = 100;
export const RETRY_LONGEST_MS = 5_000;

/** A signal that is aborted when one of two is. */
export function either(signal, other) {
  if (signal === undefined) return other;
  const both = new AbortController();
  for (const one of [signal, other]) {
    if (one.aborted) both.abort(one.reason);
    one.addEventListener('abort', () => both.abort(one.reason), {once: true, signal: both.signal});
  }
  return both.signal;
}

export function sleep(ms, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, {once: true});
  });
}

export function randomName() {
  return Array.from({length: 16}, () => Math.floor(Math.random() * 16).toString(16)).join('');
}

export function base64(text) {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

export function quoted(cas) {
  return `"${cas}"`;
}
