import { untilAborted } from "../runtime/cancellation.ts";
import { type Answer, broken, type Incoming, piecesOf } from "./answer.ts";
import type { App } from "./app.ts";
import type { SandboxClock } from "./sandbox-clock.ts";

type FetchInput = Parameters<typeof fetch>[0];
type FetchInit = Parameters<typeof fetch>[1];

/** The path and query, without the base URL's own path. */
const targetOf = ({ pathname, search }: URL, basePath: string): string =>
  (pathname.startsWith(`${basePath}/`) ? pathname.slice(basePath.length) : pathname) + search;

/** Synchronous if the body is a string, so that the request takes effect before `fetch` returns its promise. */
const readRequest = (input: FetchInput, init: FetchInit, basePath: string): Incoming | Promise<Incoming> => {
  const body = init?.body ?? "";
  if (input instanceof Request || typeof body !== "string") {
    const request = new Request(input, init);
    const { method, url, headers } = request;
    const target = targetOf(new URL(url), basePath);
    return request
      .text()
      .then((text) => ({ method, target, headers: Object.fromEntries(headers), body: text }));
  }
  // Creating no Request object halves the cost of a call.
  const headers = Object.fromEntries(new Headers(init?.headers));
  if (body !== "") headers["content-type"] ??= "text/plain;charset=UTF-8";
  const target = targetOf(new URL(input), basePath);
  return { method: (init?.method ?? "GET").toUpperCase(), target, headers, body };
};

/** The body as a stream that breaks, stops or drips. */
const spoiltBody = (answer: Answer, clock: SandboxClock, signal: AbortSignal | undefined): ReadableStream => {
  const pieces = piecesOf(answer, new TextEncoder().encode(answer.body), clock, signal);
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
};

const toResponse = (answer: Answer, clock: SandboxClock, signal: AbortSignal | undefined): Response => {
  const { status, body, delivery = "" } = answer;
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers))
    for (const one of [value].flat()) headers.append(name, one);
  if (body === "") return new Response(null, { status, headers });
  const isSpoilt = ["truncate", "stall-body", "drip", "gzip-corrupt"].includes(delivery);
  return new Response(isSpoilt ? spoiltBody(answer, clock, signal) : body, { status, headers });
};

/** Creates a WHATWG fetch without sockets, for any host. It removes the path of `baseUrl` from request paths. */
export const createFetch = (app: App, clock: SandboxClock, baseUrl = "http://sandbox"): typeof fetch => {
  const basePath = new URL(baseUrl).pathname.replace(/\/$/, "");
  return (input, init) => {
    const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined);
    if (signal?.aborted) return Promise.reject(signal.reason);
    const answered = async (): Promise<Response> => {
      const incoming = readRequest(input, init, basePath);
      const isGone = () => signal?.aborted ?? false;
      const answer = await app({ ...(incoming instanceof Promise ? await incoming : incoming), isGone });
      if (answer.delivery === "reset") throw broken("fetch failed");
      if (answer.delivery === "stall") return new Promise<Response>(() => {});
      return toResponse(answer, clock, signal);
    };
    return untilAborted(answered(), signal);
  };
};
