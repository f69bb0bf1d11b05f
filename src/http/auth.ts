import { ConfigurationError } from "../errors.ts";
import type { KeySource } from "../options/options.ts";
import { isKey } from "../options/validation.ts";
import { DeadlineExceeded, inTime } from "../runtime/cancellation.ts";
import type { Clock } from "../runtime/clock.ts";
import type { RawHeaders } from "../runtime/headers.ts";
import { errorFrom } from "./error-from.ts";
import type { HttpResponse } from "./message.ts";
import { isErrorLike, sanitizedError } from "./sanitized-error.ts";
import { AttemptFailure, type Sending, type Stage } from "./types.ts";

// A key shorter than this, as in tests, may be an ordinary word. Such a key is removed only after `Bearer`, so that
// messages stay readable.
const minDistinctLength = 6;
// The redactor removes older keys, too, because a call can outlive its key.
const maxKeys = 100;
const replacement = "[redacted]";
// The limit keeps the recursion from a hostile body, which may be nested to any depth.
const deepestPart = 500;

const namedEntities: Readonly<Record<string, string>> = {
  "&": "amp",
  "<": "lt",
  ">": "gt",
  '"': "quot",
  "'": "apos",
};

/**
 * A pattern for one character of a key, plain or escaped for JSON, a URL, a form or HTML. Letters and digits have no
 * escapes.
 */
const characterPattern = (character: string): string => {
  if (/[A-Za-z0-9]/.test(character)) return character;
  const code = character.charCodeAt(0);
  const hex = code.toString(16).padStart(2, "0");
  const inHtml = `&(?:#0*${code}|#x0*${hex}${namedEntities[character] ? `|${namedEntities[character]}` : ""});`;
  return `(?:\\\\*\\x${hex}|\\\\+u00${hex}|%${hex}|${inHtml})`;
};

const patternOf = (key: string): string => {
  const forms = `(?:${[...key].map(characterPattern).join("")})`;
  return key.length < minDistinctLength ? `(?<=\\bBearer(?:\\s|%20|\\+)+)${forms}` : forms;
};

// Sort the longest key first, because one key may be the start of another.
const patternOfAll = (keys: readonly string[]): RegExp =>
  new RegExp(
    keys
      .toSorted((one, other) => other.length - one.length)
      .map(patternOf)
      .join("|"),
    "gi",
  );

/** Removes API keys from responses and errors, because a service or a `fetch` may quote the request with its key. */
export class Redactor {
  #keys: readonly string[] = [];
  #pattern: RegExp | undefined;

  learn(key: string): void {
    if (this.#keys.at(-1) === key) return;
    this.#keys = [...this.#keys.filter((older) => older !== key), key].slice(-maxKeys);
    this.#pattern = undefined;
  }

  readonly text = (text: string): string => {
    if (this.#keys.length === 0) return text;
    // Create the pattern only when it is needed, because most clients never have a text to clean.
    this.#pattern ??= patternOfAll(this.#keys);
    return text.replace(this.#pattern, replacement);
  };

  /** Removes the key from every part of a failed response that an error exposes. */
  response(response: HttpResponse): HttpResponse {
    const headers = this.#headers(response.headers);
    return { ...response, headers, text: this.text(response.text), json: this.body(response.json) };
  }

  failure(failure: AttemptFailure): AttemptFailure {
    // Don't change the reason of a caller's abort, because it belongs to the caller.
    if (failure.kind === "aborted") return failure;
    const { kind, wasSent, response } = failure;
    return new AttemptFailure(kind, this.text(failure.message), {
      wasSent,
      cause: this.#cause(failure.cause),
      ...(response && { response: this.response(response) }),
    });
  }

  #headers(headers: RawHeaders): RawHeaders {
    const clean = (value: RawHeaders[string]): RawHeaders[string] =>
      typeof value === "object" ? value.map(this.text) : value && this.text(value);
    return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, clean(value)]));
  }

  /** Copies a body without the keys. A part that is nested deeper than any real body is replaced. */
  body(body: unknown, depth = 0): unknown {
    if (typeof body === "string") return this.text(body);
    if (typeof body !== "object" || body === null) return body;
    if (depth > deepestPart) return replacement;
    if (Array.isArray(body)) return body.map((part) => this.body(part, depth + 1));
    return Object.fromEntries(
      Object.entries(body).map(([name, part]) => [this.text(name), this.body(part, depth + 1)]),
    );
  }

  #cause(cause: unknown): unknown {
    if (!isErrorLike(cause)) return cause;
    const values = [cause.message, cause.stack, ...Object.values(cause)];
    const hasKey = values.some((value) => typeof value === "string" && this.text(value) !== value);
    return hasKey ? sanitizedError(cause, this.text) : cause;
  }
}

/** Removes the key from failures. */
export const redacting = (redactor: Redactor): Stage => {
  const clean = (response: HttpResponse): HttpResponse => {
    const { status, json } = response;
    // The successful response to a batch may contain messages of failures.
    const isClean = status === 207 ? Reflect.get(Object(json), "rejected") === 0 : status < 400;
    return isClean ? response : redactor.response(response);
  };
  const cleanFailure = (failure: unknown): never => {
    throw failure instanceof AttemptFailure ? redactor.failure(failure) : failure;
  };
  // Not an async function, because its frame and promise would add a cost to every call.
  return function redactStage(sending, request, next) {
    return next(sending, request).then(clean, cleanFailure);
  };
};

const requestKey = async (source: () => string | Promise<string>): Promise<string> => {
  let key: unknown;
  try {
    key = await source();
  } catch (cause) {
    const what = isErrorLike(cause)
      ? `failed: ${cause.message}`
      : "threw a value that is not an Error (see cause)";
    throw new ConfigurationError(`apiKey: the function ${what}`, { cause });
  }
  if (isKey(key)) return key;
  throw new ConfigurationError(
    "apiKey: the function must return a non-empty string of visible ASCII characters",
  );
};

export interface AuthSettings {
  readonly clock: Clock;
  /** Called with each key before it is used. */
  readonly learn: (key: string) => void;
}

const fixedKey = (key: string, { learn }: AuthSettings): Stage => {
  learn(key);
  const authorization = `Bearer ${key}`;
  return function authStage(sending, request, next) {
    request.authorization = authorization;
    return next(sending, request);
  };
};

/**
 * Waits for a key, but not longer than an attempt may take.
 *
 * @throws TimeoutError after that time. The error ends the call without a retry, because no attempt was made.
 */
const keyWithin = async (
  key: Promise<string>,
  sending: Sending,
  limit: { readonly limitMs: number; readonly clock: Clock },
): Promise<string> => {
  try {
    return await inTime(key, { ...limit, signal: sending.call.signal });
  } catch (reason) {
    if (!(reason instanceof DeadlineExceeded) || sending.call.signal?.aborted) throw reason;
    const why = `the apiKey function took longer than timeoutMs, ${limit.limitMs} ms`;
    const wallTime = limit.clock.wallTime();
    throw errorFrom(new AttemptFailure("timeout", why, { wasSent: false }), sending, { wallTime });
  }
};

/** Requests the key before the first attempt, and again after a 401. */
const renewableKey = (source: () => string | Promise<string>, settings: AuthSettings): Stage => {
  let current: Promise<string> | undefined;
  return async function authStage(sending, request, next) {
    current ??= requestKey(source);
    const used = current;
    const forget = (): void => {
      if (current === used) current = undefined;
    };
    const limit = { limitMs: request.attemptTimeoutMs, clock: settings.clock };
    const key = await keyWithin(used, sending, limit).catch((error: unknown) => {
      // Forget the failure, because the key function may succeed for the next call.
      forget();
      if (!(error instanceof ConfigurationError)) throw error;
      throw sending.call.error(ConfigurationError, error.message, { cause: error.cause });
    });
    settings.learn(key);
    request.authorization = `Bearer ${key}`;
    const response = await next(sending, request);
    if (response.status !== 401) return response;
    forget();
    return { ...response, canRenewKey: true };
  };
};

/** Adds the key to every attempt. */
export const auth = (source: KeySource, settings: AuthSettings): Stage =>
  typeof source === "string" ? fixedKey(source, settings) : renewableKey(source, settings);
