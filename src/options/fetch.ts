/** The second argument with which the client calls a `fetch`. */
export interface FetchInit {
  /** The HTTP method in upper case. */
  method: string;
  /** The headers, with names in lower case. They include the API key. */
  headers: Record<string, string>;
  /** The body as JSON; absent if the request has no body. */
  body?: string;
  /** The client treats a redirect as an error, because following it would send the key to another address. */
  redirect: "manual";
  /** Aborts the attempt. */
  signal: AbortSignal;
}

/** The parts of a `fetch` response that the client reads. The `Response` of every runtime and of undici has them. */
export interface FetchResponse {
  /** The HTTP status. */
  readonly status: number;
  /** `opaqueredirect` for a redirect in a browser. */
  readonly type: string;
  /** The headers, with names in lower case. */
  readonly headers: Iterable<[string, string]>;
  /** The body, read in chunks. */
  readonly body: {
    getReader(): {
      read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
      cancel(reason?: unknown): Promise<unknown>;
    };
    cancel(): Promise<unknown>;
  } | null;
}

/** Any WHATWG fetch: the global one, undici's, a sandbox's, or your own. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>;

/** The message for a dispatcher of an older undici. */
export const oldDispatcher =
  "the dispatcher must be from undici 7 or 8, but this one is from an older version: npm install undici@7";

/**
 * The part of a dispatcher of undici 7 or 8 that the library uses. `Agent`, `Pool`, `ProxyAgent` and `MockAgent` have
 * it.
 *
 * @example
 * ```ts
 * import { Client } from "touchpoint-sdk";
 * import { ProxyAgent } from "undici";
 *
 * await using proxied = new Client({ dispatcher: new ProxyAgent("http://proxy.internal:3128") });
 * ```
 */
export interface Dispatcher {
  /** Sends one request, as undici defines it. Returns false if the dispatcher is busy. */
  dispatch(options: object, handler: object): boolean;
}
