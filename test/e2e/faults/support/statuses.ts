import type { Sandbox } from "../../../../src/sandbox/index.ts";
import { openElsewhere } from "./elsewhere.ts";
import { type FaultCase, type Place, planned, type Times } from "./fault-case.ts";
import { connectionsTo } from "./sockets.ts";

const refused = { says: "refused", error: "RateLimitError", applies: false } as const;
const unavailable = { says: "unclear", error: "ServiceUnavailableError", applies: false } as const;
const failed = { says: "unclear", applies: false } as const;

/** The forms a Retry-After may come in, and how long they ask to wait. */
const forms = [
  { form: "no Retry-After", retryAfter: undefined, waitMs: 0 },
  { form: "Retry-After: 1", retryAfter: () => 1, waitMs: 1_000 },
  { form: "Retry-After: 0.2", retryAfter: () => "0.2", waitMs: 200 },
  { form: "Retry-After: 0", retryAfter: () => 0, waitMs: 0 },
  {
    form: "Retry-After: an HTTP date",
    retryAfter: () => new Date(Date.now() + 2_000).toUTCString(),
    waitMs: 0,
  },
  { form: "Retry-After: a date in the past", retryAfter: () => new Date(0).toUTCString(), waitMs: 0 },
  { form: "Retry-After: soon", retryAfter: () => "soon", waitMs: 0 },
] as const;

const paused = (
  status: number,
  base: Pick<FaultCase, "says" | "error" | "applies">,
): readonly FaultCase[] => [
  ...forms.map(({ form, retryAfter, waitMs }) => ({
    ...base,
    name: `${status}, ${form}`,
    waitMs,
    arrange: planned(() => ({ status, ...(retryAfter && { retryAfter: retryAfter() }) })),
  })),
  {
    ...base,
    name: `${status}, Retry-After: 120, over maxRetryAfterMs`,
    isTooLong: true,
    arrange: planned({ status, retryAfter: 120 }),
  },
];

const redirect =
  (status: number) =>
  async (sandbox: Sandbox, times: Times): Promise<Place> => {
    const elsewhere = await openElsewhere();
    const place = await planned({ status, headers: { location: `${elsewhere.url}/api/v1/contacts` } })(
      sandbox,
      times,
    );
    const close = async (): Promise<void> => {
      const seen = connectionsTo(elsewhere.port).length + elsewhere.connections;
      await Promise.all([place.close(), elsewhere.close()]);
      if (seen > 0) throw new Error(`a ${status} was followed to another origin`);
    };
    return { url: place.url, port: place.port, close };
  };

/** Answers that carry an error status, whoever they come from. */
export const statuses: readonly FaultCase[] = [
  ...paused(429, refused),
  ...paused(503, unavailable),
  {
    ...failed,
    name: "an empty 500",
    error: "InternalServerError",
    arrange: planned({ status: 500, body: "" }),
  },
  {
    ...failed,
    applies: true,
    name: "a 500 after the service applied the request",
    error: "InternalServerError",
    arrange: planned({ status: 500, applied: true }),
  },
  { ...failed, name: "a 504", error: "GatewayTimeoutError", arrange: planned({ status: 504 }) },
  { ...failed, name: "a 520 of a network edge", error: "ApiError", arrange: planned({ status: 520 }) },
  { ...failed, name: "a proxy's HTML 502", error: "BadGatewayError", arrange: planned("html-502") },
  {
    ...failed,
    applies: true,
    name: "a proxy's HTML 502 after the service applied the request",
    error: "BadGatewayError",
    arrange: planned({
      status: 502,
      applied: true,
      body: "<html><h1>502 Bad Gateway</h1></html>",
      headers: { "content-type": "text/html" },
    }),
  },
  ...[301, 302, 303, 307, 308].map(
    (status): FaultCase => ({
      says: "unclear for good",
      error: "ConnectionError",
      applies: false,
      name: `a ${status} to another origin`,
      arrange: redirect(status),
    }),
  ),
  ...[
    { failing: 1, name: "the first event of a batch fails temporarily" },
    { failing: 2, name: "every event of a batch fails temporarily" },
  ].map(
    ({ failing, name }): FaultCase => ({
      says: "a response",
      applies: false,
      name,
      failing,
      only: "events.recordBatch",
      arrange: planned({ items: failing === 1 ? [0] : [0, 1], status: 500 }),
    }),
  ),
];
