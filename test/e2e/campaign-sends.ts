import type { Channel } from "node:diagnostics_channel";
import { channel } from "node:diagnostics_channel";

interface Asked {
  readonly origin: URL | string;
  readonly path: string;
  readonly method: string;
}

interface Head {
  readonly statusCode: number;
  /** Names and values in turn. */
  readonly headers: readonly Uint8Array[];
}

interface Pause {
  readonly since: number;
  readonly until: number;
}

const budgetOf = ({ method, path }: Asked): string => {
  if (path.startsWith("/api/v1/events")) return "events";
  return path === "/api/v1/emails" && method === "POST" ? "emails" : "requests";
};

const retryAfterMs = ({ statusCode, headers }: Head): number => {
  if (statusCode !== 429 && statusCode !== 503) return Number.NaN;
  const texts = headers.map((bytes) => Buffer.from(bytes).toString().toLowerCase());
  return Number(texts[texts.indexOf("retry-after") + 1] ?? Number.NaN) * 1_000;
};

/** Watches the bytes that leave for a port: none may while the service has asked to wait. */
export const watchSends = (port: number) => {
  const breaches: string[] = [];
  const pauses = new Map<string, readonly Pause[]>();
  const begun = new WeakMap<Asked, number>();
  const heads = new WeakMap<Asked, { readonly at: number; readonly waitMs: number }>();
  const isHere = ({ origin }: Asked): boolean => new URL(origin).port === String(port);

  const onBegin = (message: unknown): void => {
    // As undici publishes it.
    const { request } = message as { readonly request: Asked };
    begun.set(request, performance.now());
  };
  const onSend = (message: unknown): void => {
    // As above.
    const { request } = message as { readonly request: Asked };
    if (!isHere(request)) return;
    const now = performance.now();
    // Handed to the pool before the answer came, it was waiting for a socket.
    const since = begun.get(request) ?? now;
    for (const name of new Set(["requests", budgetOf(request)])) {
      const pause = pauses.get(name)?.find((each) => each.since < since && now < each.until);
      if (pause !== undefined) breaches.push(`${request.path} went out ${pause.until - now} ms too early`);
    }
  };
  const onHead = (message: unknown): void => {
    // As above.
    const { request, response } = message as { readonly request: Asked; readonly response: Head };
    const waitMs = retryAfterMs(response);
    if (isHere(request) && waitMs > 0) heads.set(request, { at: performance.now(), waitMs });
  };
  const onEnd = (message: unknown): void => {
    // As above.
    const { request } = message as { readonly request: Asked };
    const head = heads.get(request);
    if (head === undefined) return;
    // What leaves in the turn in which the answer ends has crossed it on the way.
    setImmediate(() => {
      const name = budgetOf(request);
      const now = performance.now();
      const left = (pauses.get(name) ?? []).filter(({ until }) => now < until);
      pauses.set(name, [...left, { since: now, until: head.at + head.waitMs }]);
    });
  };
  const channels: readonly (readonly [Channel, (message: unknown) => void])[] = [
    [channel("undici:request:create"), onBegin],
    [channel("undici:client:sendHeaders"), onSend],
    [channel("undici:request:headers"), onHead],
    [channel("undici:request:trailers"), onEnd],
  ];
  for (const [each, listener] of channels) each.subscribe(listener);
  return {
    breaches,
    stop: (): void => {
      for (const [each, listener] of channels) each.unsubscribe(listener);
    },
  };
};
