import type { Clock } from "../../../src/runtime/clock.ts";
import { sleepOn } from "../../../src/runtime/clock.ts";
import { createSandbox, type Sandbox, type SandboxOptions } from "../../../src/sandbox/index.ts";

/** The moment at which the sandboxes of these tests start. */
export const start = Date.parse("2026-03-01T12:00:00.000Z");

/** A clock that stands still; only `sandbox.advance` moves the time above it. */
export const stillClock: Clock = {
  now: () => 0,
  wallTime: () => start,
  after: () => () => {},
  sleep: (ms, signal) => sleepOn(stillClock, ms, signal),
};

/** An answer as plain data. */
export interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Headers;
}

/** How a test speaks to the sandbox: bare requests, none of the client's code. */
export interface Caller {
  readonly sandbox: Sandbox;
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
}

/** Sends one bare request. */
export const send = async (
  sandbox: Pick<Sandbox, "fetch">,
  method: string,
  path: string,
  { body, headers }: { readonly body?: unknown; readonly headers?: Record<string, string> } = {},
): Promise<Reply> => {
  const response = await sandbox.fetch(`https://service.test${path}`, {
    method,
    headers: { authorization: "Bearer sandbox-key", "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json") ?? false;
  return {
    status: response.status,
    body: text === "" ? undefined : isJson ? JSON.parse(text) : text,
    headers: response.headers,
  };
};

/** A sandbox on a still clock, without limits unless given. */
export const open = (options: SandboxOptions = {}): Caller => {
  const sandbox = createSandbox({ clock: stillClock, limits: false, seed: 1, ...options });
  return {
    sandbox,
    call: (method, path, body, headers) => send(sandbox, method, path, { body, headers: headers ?? {} }),
  };
};
