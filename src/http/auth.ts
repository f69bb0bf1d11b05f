import { ConfigurationError } from "../errors.ts";
import type { KeySource } from "../options/options.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Closing } from "./closing.ts";
import { isFault } from "./sanitized-error.ts";
import { outcomeOf, type Stage } from "./types.ts";
import { withinAttempt } from "./within.ts";

// What an HTTP header can carry; anything else would fail deep in the transport, with the key in the message.
const isHeaderSafe = (key: unknown): key is string => typeof key === "string" && /^[\x21-\x7e]+$/.test(key);

const ask = async (source: () => string | Promise<string>): Promise<string> => {
  let key: unknown;
  try {
    key = await source();
  } catch (cause) {
    const reason = isFault(cause) ? cause.message : "with something that is no Error";
    throw new ConfigurationError(`apiKey: the function failed: ${reason}`, { cause });
  }
  if (isHeaderSafe(key)) return key;
  throw new ConfigurationError(
    "apiKey: the function must return a non-empty string of visible ASCII characters",
  );
};

export interface AuthSettings {
  readonly clock: Clock;
  readonly closing: Closing;
  /** Told each key before it is used. */
  readonly learn: (key: string) => void;
}

/** Adds a key that never changes. */
const fixedKey = (key: string, { learn }: AuthSettings): Stage => {
  learn(key);
  const authorization = `Bearer ${key}`;
  return (next) => (request) => next({ ...request, authorization });
};

/** Asks for the key before the first attempt, and once more in a call after a 401. */
const renewableKey = (source: () => string | Promise<string>, settings: AuthSettings): Stage => {
  let current: Promise<string> | undefined;
  const renewed = new WeakSet<object>();
  return (next) => async (request) => {
    current ??= ask(source);
    const used = current;
    const forget = (): void => {
      if (current === used) current = undefined;
    };
    const key = await withinAttempt(used, "asking for the key", request, settings).catch((error: unknown) => {
      // A provider that failed once may answer the next call.
      forget();
      if (!(error instanceof ConfigurationError)) throw error;
      const { operation, log } = request;
      const outcome = outcomeOf(request);
      const details = { operation, attempts: log.attempts, outcome, cause: error.cause };
      throw new ConfigurationError(`${operation}: ${error.message}`, details);
    });
    settings.learn(key);
    const response = await next({ ...request, authorization: `Bearer ${key}` });
    if (response.status !== 401) return response;
    forget();
    const canRenewKey = !renewed.has(request.log);
    renewed.add(request.log);
    return { ...response, canRenewKey };
  };
};

/** Adds the key to every attempt. */
export const auth = (source: KeySource, settings: AuthSettings): Stage =>
  typeof source === "string" ? fixedKey(source, settings) : renewableKey(source, settings);
