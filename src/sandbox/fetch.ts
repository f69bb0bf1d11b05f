import { untilAborted } from "../runtime/cancellation.ts";
import type { Answer, Incoming } from "./answer.ts";
import type { App } from "./app.ts";
import type { SandboxClock } from "./sandbox-clock.ts";

type FetchInput = Parameters<typeof fetch>[0];
type FetchInit = Parameters<typeof fetch>[1];

/** The error with which any fetch reports a broken connection. */
const broken = (message: string): TypeError =>
  new TypeError(message, { cause: Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }) });

const headersOf = (headers: Headers): Record<string, string> => {
  const read: Record<string, string> = {};
  for (const [name, value] of headers) read[name] = value;
  return read;
};

/** The path and query, without the base URL's own path. */
const targetOf = ({ pathname, search }: URL, basePath: string): string =>
  (pathname.startsWith(`${basePath}/`) ? pathname.slice(basePath.length) : pathname) + search;

const readRequestObject = async (request: Request, basePath: string): Promise<Incoming> => {
  const target = targetOf(new URL(request.url), basePath);
  const body = await request.text();
  return { method: request.method, target, headers: headersOf(request.headers), body };
};

/** Synchronous if the body is a string, so that the request takes effect before `fetch` returns its promise. */
const readRequest = (input: FetchInput, init: FetchInit, basePath: string): Incoming | Promise<Incoming> => {
  const body = init?.body ?? "";
  if (input instanceof Request || typeof body !== "string") {
    return readRequestObject(new Request(input, init), basePath);
  }
  // Creating no Request object halves the cost of a call.
  const headers = headersOf(new Headers(init?.headers));
  if (body !== "") headers["content-type"] ??= "text/plain;charset=UTF-8";
  const target = targetOf(new URL(input), basePath);
  return { method: (init?.method ?? "GET").toUpperCase(), target, headers, body };
};

const toHeaders = (answer: Answer): Headers => {
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers)) {
    for (const one of typeof value === "string" ? [value] : value) headers.append(name, one);
  }
  if (answer.packing !== undefined) {
    headers.set("content-encoding", answer.packing === "br" ? "br" : "gzip");
  }
  return headers;
};

const dripBytes = 8;

const dripInto = (
  controller: ReadableStreamDefaultController<Uint8Array>,
  bytes: Uint8Array,
  everyMs: number,
  clock: SandboxClock,
): (() => void) => {
  let at = 0;
  let isOver = false;
  const step = (): void => {
    if (isOver) return;
    controller.enqueue(bytes.slice(at, at + dripBytes));
    at += dripBytes;
    if (at >= bytes.length) controller.close();
    else clock.after(everyMs, step);
  };
  step();
  return () => {
    isOver = true;
  };
};

/** The body as a stream that breaks, stops or drips. */
const spoiltBody = (answer: Answer, clock: SandboxClock, signal: AbortSignal | undefined): ReadableStream => {
  const bytes = new TextEncoder().encode(answer.body);
  const { delivery } = answer;
  let stop = () => {};
  return new ReadableStream<Uint8Array>({
    start(controller) {
      signal?.addEventListener(
        "abort",
        () => {
          stop();
          controller.error(signal.reason);
        },
        { once: true },
      );
      if (delivery.kind === "drip") stop = dripInto(controller, bytes, delivery.everyMs, clock);
      else if (bytes.length > 1) controller.enqueue(bytes.slice(0, bytes.length >> 1));
    },
    pull(controller) {
      const breaks =
        answer.packing === "gzip-corrupt" || (delivery.kind === "part" && delivery.then === "reset");
      if (breaks) controller.error(broken("terminated"));
      // A pending promise stops further pulls: the body stalls.
      return delivery.kind === "drip" || breaks ? undefined : new Promise(() => {});
    },
    cancel: () => stop(),
  });
};

const toResponse = (answer: Answer, clock: SandboxClock, signal: AbortSignal | undefined): Response => {
  const init = { status: answer.status, headers: toHeaders(answer) };
  const { kind } = answer.delivery;
  if (answer.body === "") return new Response(null, init);
  const isSpoilt = kind === "part" || kind === "drip" || answer.packing === "gzip-corrupt";
  return new Response(isSpoilt ? spoiltBody(answer, clock, signal) : answer.body, init);
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
      if (answer.delivery.kind === "reset") throw broken("fetch failed");
      if (answer.delivery.kind === "stall") return new Promise<Response>(() => {});
      return toResponse(answer, clock, signal);
    };
    return untilAborted(answered(), signal);
  };
};
