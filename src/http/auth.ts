import { ConfigurationError } from "../errors.ts";
import type { KeySource } from "../options.ts";
import type { HttpRequest, Stage } from "./types.ts";

// What an HTTP header can carry; anything else would fail deep in the transport, with the key in the message.
const isHeaderSafe = (key: unknown): key is string => typeof key === "string" && /^[\x21-\x7e]+$/.test(key);

const ask = async (source: () => string | Promise<string>): Promise<string> => {
  const key: unknown = await source();
  if (isHeaderSafe(key)) return key;
  throw new ConfigurationError(
    "apiKey: the function must return a non-empty string of visible ASCII characters",
  );
};

const withKey = (request: HttpRequest, key: string): HttpRequest => ({
  ...request,
  headers: { ...request.headers, authorization: `Bearer ${key}` },
});

/** Adds the key to every attempt; after a 401 a key function is asked again, once in a call. */
export const auth = (source: KeySource): Stage => {
  if (typeof source === "string") return (next) => (request) => next(withKey(request, source));
  let current: Promise<string> | undefined;
  const renewed = new WeakSet<object>();
  return (next) => async (request) => {
    current ??= ask(source);
    const used = current;
    let key: string;
    try {
      key = await used;
    } catch (error) {
      // A provider that failed once may answer the next call.
      if (current === used) current = undefined;
      throw error;
    }
    const response = await next(withKey(request, key));
    if (response.status !== 401) return response;
    if (current === used) current = undefined;
    const isFirst = !renewed.has(request.log);
    renewed.add(request.log);
    return { ...response, canRenewKey: isFirst };
  };
};
