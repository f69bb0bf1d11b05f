import { untilAborted } from "../runtime/cancellation.ts";
import { markOwnService } from "../runtime/own-service.ts";
import { platform } from "../runtime/platform.ts";
import { type Answer, broken, type Incoming } from "./answer.ts";
import type { App } from "./app.ts";

type FetchInput = Parameters<typeof fetch>[0];
type FetchInit = Parameters<typeof fetch>[1];

/** The path and query, without the base URL's own path. */
const targetOf = ({ pathname, search }: URL, basePath: string): string =>
  (pathname.startsWith(`${basePath}/`) ? pathname.slice(basePath.length) : pathname) + search;

/** Whether the input is a Request, of any realm or library. `instanceof` recognizes only those of this realm. */
const isRequest = (input: FetchInput): input is Request => typeof input === "object" && "url" in input;

/**
 * Reads the arguments of `fetch`. Returns synchronously if the body is a string, so that the request takes effect
 * before `fetch` returns its promise. It creates no `Request`, which would double the cost of a call.
 */
const readRequest = (input: FetchInput, init: FetchInit, basePath: string): Incoming | Promise<Incoming> => {
  const { Headers, Response } = platform();
  const request = isRequest(input) ? input : undefined;
  const method = (init?.method ?? request?.method ?? "GET").toUpperCase();
  const target = targetOf(new URL(isRequest(input) ? input.url : input), basePath);
  const headers = Object.fromEntries(new Headers(init?.headers ?? request?.headers));
  const body = init?.body ?? "";
  if (body === "" && request !== undefined)
    return request.text().then((text) => ({ method, target, headers, body: text }));
  if (typeof body === "string") {
    if (body !== "") headers["content-type"] ??= "text/plain;charset=UTF-8";
    return { method, target, headers, body };
  }
  const complete = new Response(body);
  const type = complete.headers.get("content-type");
  if (type !== null) headers["content-type"] ??= type;
  return complete.text().then((text) => ({ method, target, headers, body: text }));
};

/** The first half of the body, and then a broken connection. */
const halfOf = (body: string): ReadableStream => {
  const { ReadableStream, TextEncoder } = platform();
  const bytes = new TextEncoder().encode(body);
  return new ReadableStream({
    start: (controller) => controller.enqueue(bytes.slice(0, bytes.length >> 1)),
    pull: (controller) => controller.error(broken("terminated")),
  });
};

const toResponse = ({ status, headers, body, delivery }: Answer): Response => {
  const { Response } = platform();
  if (body === "") return new Response(null, { status, headers });
  return new Response(delivery === "truncate" ? halfOf(body) : body, { status, headers });
};

/** Creates a WHATWG fetch without sockets, for any host. It removes the path of `baseUrl` from request paths. */
export const createFetch = (app: App, baseUrl = "http://sandbox"): typeof fetch => {
  const basePath = new URL(baseUrl).pathname.replace(/\/$/, "");
  const sandboxFetch: typeof fetch = (input, init) => {
    const signal = init?.signal ?? (isRequest(input) ? input.signal : undefined);
    if (signal?.aborted) return Promise.reject(signal.reason);
    const answered = async (): Promise<Response> => {
      const incoming = readRequest(input, init, basePath);
      const isGone = () => signal?.aborted ?? false;
      const answer = await app({ ...(incoming instanceof Promise ? await incoming : incoming), isGone });
      if (answer.delivery === "reset") throw broken("fetch failed");
      if (answer.delivery === "stall") return new Promise<Response>(() => {});
      return toResponse(answer);
    };
    return untilAborted(answered(), signal);
  };
  return markOwnService(sandboxFetch);
};
