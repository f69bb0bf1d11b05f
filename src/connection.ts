import { auth, Redactor, redacting } from "./http/auth.ts";
import { claimOnce } from "./http/claim-once.ts";
import { emailGuard } from "./http/email-guard.ts";
import type { HttpRequest, HttpResponse } from "./http/message.ts";
import { RetryQuota, retry } from "./http/retry.ts";
import { observe } from "./http/tracing.ts";
import type { TransportLimits } from "./http/transport/attempt.ts";
import { fetchTransport } from "./http/transport/fetch.ts";
import { type TestDouble, testDouble } from "./http/transport/interception.ts";
import type { Send, Sending, Stage, Transport } from "./http/types.ts";
import type { Carrier, Closable } from "./lifecycle.ts";
import type { Settings } from "./options/options.ts";
import { type RateLimiter, sharedLimiter } from "./rate-limit/limiter.ts";
import { ConcurrencyLimit } from "./rate-limit/queue.ts";
import { rateLimit } from "./rate-limit/stage.ts";
import { Lifetime } from "./runtime/cancellation.ts";
import type { Clock } from "./runtime/clock.ts";

/** The stages above a transport, and the objects that they share. */
export interface Connection {
  readonly settings: Settings;
  readonly send: Send;
  /** Removes used API keys from texts. */
  readonly redactor: Redactor;
  readonly limiter: RateLimiter;
  readonly slots: ConcurrencyLimit;
  /** Limits the retries of all calls together. */
  readonly quota: RetryQuota;
  /** 0 ≤ random() < 1. */
  readonly random: () => number;
  readonly transport: Transport;
  /** The lifetime of the calls that use the transport. */
  readonly lifetime: Lifetime;
  /** The resources that this connection closes. The resources of the parent's connection are not included. */
  readonly resources: readonly Closable[];
}

/** Loads undici with the first request, so that importing the package and creating a client stay fast. */
const lazyTransport = (settings: Settings, limits: TransportLimits): Transport => {
  let loaded: Transport | undefined;
  let closing: Promise<unknown> | undefined;
  const load = async (signal: AbortSignal | undefined): Promise<Transport> => {
    const { undiciTransport, loadTunnel } = await import("./http/transport/undici.ts");
    const { origin, dispatcher, proxy } = settings;
    const tunnel = proxy && !dispatcher ? await loadTunnel(origin, proxy) : undefined;
    signal?.throwIfAborted();
    loaded ??= undiciTransport({ ...limits, origin, dispatcher, tunnel });
    return loaded;
  };
  const sendByTestDouble = async (
    double: TestDouble,
    sending: Sending,
    request: HttpRequest,
  ): Promise<HttpResponse> => {
    const { origin } = settings;
    if ("fetch" in double) return fetchTransport(origin, double.fetch, limits).send(sending, request);
    const { undiciTransport } = await import("./http/transport/undici.ts");
    const { dispatcher } = double;
    return undiciTransport({ ...limits, origin, dispatcher }).send(sending, request);
  };
  const usesTestDoubles = settings.interception && settings.dispatcher === undefined;
  return {
    send: (sending, request) => {
      const double = usesTestDoubles ? testDouble() : undefined;
      if (double !== undefined) return sendByTestDouble(double, sending, request);
      if (loaded !== undefined) return loaded.send(sending, request);
      return load(sending.call.signal).then((transport) => transport.send(sending, request));
    },
    close: async () => {
      const open = loaded;
      loaded = undefined;
      // A second close must not resolve earlier than the first one.
      closing = Promise.all([closing, open?.close()]);
      await closing;
    },
  };
};

const transportFor = (settings: Settings, limits: TransportLimits): Transport => {
  const { fetch, origin } = settings;
  return fetch === undefined ? lazyTransport(settings, limits) : fetchTransport(origin, fetch, limits);
};

/**
 * Decides which resources of the parent's connection a new connection shares. `transportSource` and `limiterSource` are
 * the parent's connection if the settings for the transport or the limiter are the same; otherwise undefined.
 */
const share = (settings: Settings, parent: Connection | undefined) => {
  const parentSettings = parent?.settings;
  const isSame = (...names: readonly (keyof Settings)[]): boolean =>
    parentSettings !== undefined && names.every((name) => settings[name] === parentSettings[name]);
  const hasSameTransport = isSame(
    ...(["origin", "fetch", "dispatcher", "proxy"] as const),
    ...(["interception", "concurrency", "maxResponseBytes"] as const),
  );
  // The service counts requests per key, whichever transport sends them.
  const isSameKey = isSame("origin", "apiKey", "sharing") && sameLimits(settings, parentSettings);
  return {
    transportSource: hasSameTransport ? parent : undefined,
    limiterSource: isSameKey ? parent : undefined,
  };
};

const sameLimits = (settings: Settings, other: Settings | undefined): boolean =>
  JSON.stringify([settings.limits, settings.limitScopes]) ===
  JSON.stringify([other?.limits, other?.limitScopes]);

/** Nests the stages around a transport. The first stage is outermost: it sees the request first, the response last. */
const pipeline = (stages: readonly Stage[], transport: Send): Send =>
  stages.reduceRight<Send>(
    (next, stage) =>
      function send(sending, request) {
        return stage(sending, request, next);
      },
    transport,
  );

/** Builds a connection. A request passes the stages in the order of their array. */
export const connect = (
  settings: Settings,
  { clock, random }: { readonly clock: Clock; readonly random: () => number },
  parent?: Connection,
): Connection => {
  const { concurrency, maxRetryAfterMs, hooks, log } = settings;
  const { transportSource, limiterSource } = share(settings, parent);
  const limiter = limiterSource?.limiter ?? sharedLimiter(settings, clock);
  const slots = transportSource?.slots ?? new ConcurrencyLimit(concurrency);
  const quota = transportSource?.quota ?? new RetryQuota();
  const redactor = new Redactor();
  const transport =
    transportSource?.transport ??
    transportFor(settings, { maxResponseBytes: settings.maxResponseBytes, clock });
  const notify =
    <T extends object>(level: "debug" | "info", message: string, hook: ((notice: T) => void) | undefined) =>
    (notice: T): void => {
      log[level](message, notice);
      hook?.(notice);
    };
  const lifetime = transportSource?.lifetime ?? new Lifetime(() => transport.close());
  const stages: readonly Stage[] = [
    retry({
      maxRetryAfterMs,
      clock,
      quota,
      random,
      onRetry: notify("info", "retrying request", hooks.onRetry),
    }),
    // Inside of retry, because every attempt spends the limits, including the failed ones.
    rateLimit({
      limiter,
      slots,
      maxRetryAfterMs,
      interactiveReserve: settings.interactiveReserve,
      maxQueued: settings.maxQueued,
      clock,
      onWait:
        hooks.onWait || log.isOn("debug") ? notify("debug", "waiting for a limit", hooks.onWait) : undefined,
      onLongWait: log.isOn("warn")
        ? (level, notice) => log[level]("still waiting for a limit", notice)
        : undefined,
    }),
    observe({ origin: settings.origin, hooks, log, clock, quota }),
    redacting(redactor),
    auth(settings.apiKey, { clock, learn: (key) => redactor.learn(key) }),
  ];
  const emailStages: readonly Stage[] = [
    // Outermost, because an email that is not sent must not spend limits, wait or count as a request.
    emailGuard({
      guards: settings.emailGuards,
      log,
      wallTime: () => clock.wallTime(),
    }),
    ...stages,
    // Innermost, so that a call doesn't hold its send-once key while it waits for a limit or a retry.
    claimOnce(clock),
  ];
  const sendAny = pipeline(stages, transport.send);
  const sendEmail = pipeline(emailStages, transport.send);
  // Use the lifetime itself as the carrier: calls in flight keep it alive, even if nothing references the client.
  const carrier: Carrier = Object.assign(lifetime, { slots });
  return {
    settings,
    send: (sending, request) => {
      const { isEmail, mayBeEmail } = sending.operation;
      return isEmail || mayBeEmail ? sendEmail(sending, request) : sendAny(sending, request);
    },
    redactor,
    limiter,
    slots,
    quota,
    random,
    transport,
    lifetime,
    resources: [
      ...(transportSource === undefined ? [carrier] : []),
      ...(settings.sharing !== undefined && limiterSource === undefined ? [limiter] : []),
    ],
  };
};
