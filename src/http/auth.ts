import { ConfigurationError, TimeoutError } from "../errors.ts";
import type { KeySource } from "../options/options.ts";
import { openScope, untilAborted } from "../runtime/cancellation.ts";
import type { Clock } from "../runtime/clock.ts";
import { isErrorLike } from "./sanitized-error.ts";
import { type HttpRequest, progressOf, type Stage } from "./types.ts";

// What an HTTP header can carry; anything else would fail deep in the transport, with the key in the message.
const isHeaderSafe = (key: unknown): key is string => typeof key === "string" && /^[\x21-\x7e]+$/.test(key);

const ask = async (source: () => string | Promise<string>): Promise<string> => {
  let key: unknown;
  try {
    key = await source();
  } catch (cause) {
    const reason = isErrorLike(cause) ? cause.message : "with something that is no Error";
    throw new ConfigurationError(`apiKey: the function failed: ${reason}`, { cause });
  }
  if (isHeaderSafe(key)) return key;
  throw new ConfigurationError(
    "apiKey: the function must return a non-empty string of visible ASCII characters",
  );
};

export interface AuthSettings {
  readonly clock: Clock;
  /** Told each key before it is used. */
  readonly learn: (key: string) => void;
}

/** Adds a key that never changes. */
const fixedKey = (key: string, { learn }: AuthSettings): Stage => {
  learn(key);
  const authorization = `Bearer ${key}`;
  return function makeAuth(next) {
    return function authStage(request) {
      return next({ ...request, authorization });
    };
  };
};

/**
 * Waits for a key no longer than an attempt may take.
 *
 * @throws TimeoutError after that, which ends the call: no attempt was made, so nothing counts how often it is tried.
 */
const keyWithin = async (key: Promise<string>, request: HttpRequest, clock: Clock): Promise<string> => {
  const { operation, signal, attemptTimeoutMs } = request;
  const late = new AbortController();
  const cancel = clock.after(attemptTimeoutMs, () =>
    late.abort(
      new TimeoutError(
        `${operation}: not sent (asking for the key took longer than timeoutMs, ${attemptTimeoutMs} ms).`,
        { ...progressOf(request) },
      ),
    ),
  );
  const scope = openScope([signal, late.signal]);
  try {
    return await untilAborted(key, scope.signal);
  } finally {
    cancel();
    scope.release();
  }
};

/** Asks for the key before the first attempt, and again after a 401. */
const renewableKey = (source: () => string | Promise<string>, settings: AuthSettings): Stage => {
  let current: Promise<string> | undefined;
  return function makeAuth(next) {
    return async function authStage(request) {
      current ??= ask(source);
      const used = current;
      const forget = (): void => {
        if (current === used) current = undefined;
      };
      const key = await keyWithin(used, request, settings.clock).catch((error: unknown) => {
        // A provider that failed once may answer the next call.
        forget();
        if (!(error instanceof ConfigurationError)) throw error;
        const details = { ...progressOf(request), cause: error.cause };
        throw new ConfigurationError(`${request.operation}: ${error.message}`, details);
      });
      settings.learn(key);
      const response = await next({ ...request, authorization: `Bearer ${key}` });
      if (response.status !== 401) return response;
      forget();
      return { ...response, canRenewKey: true };
    };
  };
};

/** Adds the key to every attempt. */
export const auth = (source: KeySource, settings: AuthSettings): Stage =>
  typeof source === "string" ? fixedKey(source, settings) : renewableKey(source, settings);
