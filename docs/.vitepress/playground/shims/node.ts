// What the client and the sandbox use of Node's modules on the way of a call, for the page. The rest of those modules
// (files, sockets, servers) is never reached there.
import { sha256 } from "./sha256.ts";

export const types = {
  isDate: (value: unknown): boolean => value instanceof Date,
  isUint8Array: (value: unknown): boolean => value instanceof Uint8Array,
};

const silent = { hasSubscribers: false };
export const tracingChannel = () => ({ start: silent, hasSubscribers: false });
export const channel = () => silent;

export const createHash = () => {
  let text = "";
  const hash = {
    update: (more: string) => {
      text += more;
      return hash;
    },
    digest: () => [...sha256(text)].map((byte) => byte.toString(16).padStart(2, "0")).join(""),
  };
  return hash;
};
export const hash = (_algorithm: string, text: string): string => createHash().update(text).digest();
export const randomUUID = (): string => crypto.randomUUID();

/** Runs everything in one context: a page has one visitor. */
export class AsyncLocalStorage {
  getStore(): undefined {}
  run<T>(_store: unknown, work: () => T): T {
    return work();
  }
  static snapshot() {
    return <T>(work: () => T): T => work();
  }
  static bind<T>(work: T): T {
    return work;
  }
}
export class AsyncResource {
  runInAsyncScope<T>(work: () => T): T {
    return work();
  }
  static bind<T>(work: T): T {
    return work;
  }
}
