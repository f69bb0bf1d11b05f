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
import { allOperations } from "./service/operations.ts";

/** The stages over a transport, and what they share. */
export interface Connection {
  readonly settings: Settings;
  readonly send: Send;
  /** Removes the keys that were used from texts. */
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
  /** What this connection closes. What it shares with a sibling's connection is not included. */
  readonly ends: readonly Closable[];
}

/** Loads undici with the first request, because importing the package and configuring a client do not need it. */
const lazyTransport = (settings: Settings, limits: TransportLimits): Transport => {
  let loaded: Transport | undefined;
  let ending: Promise<unknown> | undefined;
  const load = async (signal: AbortSignal | undefined): Promise<Transport> => {
    const { undiciTransport, loadTunnelling } = await import("./http/transport/undici.ts");
    const { origin, dispatcher, proxy, noProxy } = settings;
    const tunnelling = proxy && !dispatcher ? await loadTunnelling({ proxy, noProxy }) : undefined;
    signal?.throwIfAborted();
    loaded ??= undiciTransport({ ...limits, origin, dispatcher, tunnelling });
    return loaded;
  };
  const sendBy = async (
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
  const isFollowing = settings.interception && settings.dispatcher === undefined;
  return {
    send: (sending, request) => {
      const double = isFollowing ? testDouble() : undefined;
      if (double !== undefined) return sendBy(double, sending, request);
      if (loaded !== undefined) return loaded.send(sending, request);
      return load(sending.call.signal).then((transport) => transport.send(sending, request));
    },
    close: async () => {
      const open = loaded;
      loaded = undefined;
      // A second close resolves no earlier than the first.
      ending = Promise.all([ending, open?.close()]);
      await ending;
    },
  };
};

const transportFor = (settings: Settings, limits: TransportLimits): Transport => {
  const { fetch, origin } = settings;
  return fetch === undefined ? lazyTransport(settings, limits) : fetchTransport(origin, fetch, limits);
};

/** A sibling's connection, for what can be shared because its settings are the same. */
const share = (settings: Settings, from: Connection | undefined) => {
  const before = from?.settings;
  const isSame = (...names: readonly (keyof Settings)[]): boolean =>
    before !== undefined && names.every((name) => settings[name] === before[name]);
  const isSamePlace = isSame(
    ...(["origin", "fetch", "dispatcher", "proxy", "noProxy"] as const),
    ...(["interception", "concurrency", "maxResponseBytes"] as const),
  );
  // The service counts per key, whichever way a request takes.
  const isSameKey = isSame("origin", "apiKey", "sharing") && sameLimits(settings, before);
  return { ofPlace: isSamePlace ? from : undefined, ofKey: isSameKey ? from : undefined };
};

const sameLimits = (settings: Settings, before: Settings | undefined): boolean =>
  JSON.stringify([settings.limits, settings.limitScopes]) ===
  JSON.stringify([before?.limits, before?.limitScopes]);

/** Operations that cannot send an email. `routes` can point any other operation to the path of emails. */
const withoutEmails = ({ routes }: Settings): ReadonlySet<string> =>
  new Set(allOperations.flatMap(({ id, isEmail }) => (isEmail || Object.hasOwn(routes, id) ? [] : [id])));

const emailPaths = ({ routes }: Settings): string[] =>
  allOperations
    .filter(({ isEmail }) => isEmail)
    .flatMap(({ id, path }) =>
      [path, routes[id]?.path ?? path].map((emailPath) => emailPath.replace(/\/:id$/, "")),
    );

/** First stage is outermost: it sees the request first and the outcome last. */
const pipeline = (stages: readonly Stage[], transport: Send): Send =>
  stages.reduceRight<Send>(
    (next, stage) =>
      function send(sending, request) {
        return stage(sending, request, next);
      },
    transport,
  );

/** Builds the stages. A request passes them in this order. */
export const connect = (
  settings: Settings,
  { clock, random }: { readonly clock: Clock; readonly random: () => number },
  sibling?: Connection,
): Connection => {
  const { concurrency, maxRetryAfterMs, hooks, log } = settings;
  const { ofPlace, ofKey } = share(settings, sibling);
  const limiter = ofKey?.limiter ?? sharedLimiter(settings, clock);
  const slots = ofPlace?.slots ?? new ConcurrencyLimit(concurrency);
  const quota = ofPlace?.quota ?? new RetryQuota();
  const redactor = new Redactor();
  const transport =
    ofPlace?.transport ?? transportFor(settings, { maxResponseBytes: settings.maxResponseBytes, clock });
  const tell =
    <T extends object>(level: "debug" | "info", message: string, hook: ((notice: T) => void) | undefined) =>
    (notice: T): void => {
      log[level](message, notice);
      hook?.(notice);
    };
  const lifetime = ofPlace?.lifetime ?? new Lifetime(() => transport.close());
  // Outermost first: a stage sees the request before the stages below it, and their result afterwards.
  const stages: readonly Stage[] = [
    retry({
      maxRetryAfterMs,
      clock,
      quota,
      random,
      onRetry: tell("info", "retrying request", hooks.onRetry),
    }),
    // Inside retry: every attempt spends budget, including the failed ones.
    rateLimit({
      limiter,
      slots,
      maxRetryAfterMs,
      interactiveReserve: settings.interactiveReserve,
      maxQueued: settings.maxQueued,
      clock,
      onWait:
        hooks.onWait || log.isOn("debug") ? tell("debug", "waiting for a limit", hooks.onWait) : undefined,
      onLongWait: log.isOn("warn")
        ? (level, notice) => log[level]("still waiting for a limit", notice)
        : undefined,
    }),
    observe({ origin: settings.origin, hooks, log, clock, quota }),
    redacting(redactor),
    auth(settings.apiKey, { clock, learn: (key) => redactor.learn(key) }),
  ];
  const emailStages: readonly Stage[] = [
    // An email that is not sent is neither counted nor waited for, nor reported as a request.
    emailGuard({
      guards: settings.emailGuards,
      log,
      paths: emailPaths(settings),
      wallTime: () => clock.wallTime(),
    }),
    ...stages,
    // Innermost: whatever a call waits for, it waits without its send-once key.
    claimOnce(clock),
  ];
  const harmless = withoutEmails(settings);
  const sendAny = pipeline(stages, transport.send);
  const sendEmail = pipeline(emailStages, transport.send);
  // One object: calls in flight keep it alive, even if the client is no longer referenced.
  const carrier: Carrier = Object.assign(lifetime, { slots });
  return {
    settings,
    send: (sending, request) =>
      harmless.has(sending.operation.id) ? sendAny(sending, request) : sendEmail(sending, request),
    redactor,
    limiter,
    slots,
    quota,
    random,
    transport,
    lifetime,
    ends: [
      ...(ofPlace === undefined ? [carrier] : []),
      ...(settings.sharing !== undefined && ofKey === undefined ? [limiter] : []),
    ],
  };
};
