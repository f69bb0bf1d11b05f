import { createServer, type Server } from "node:http";
import type { Limit } from "../../src/options/limits.ts";
import type { BudgetName } from "../../src/service/define.ts";
import { type Counting, type ServiceLimiter, serviceLimiter } from "../../test/support/service-limiter.ts";

/** A service over a loopback socket, with its counts. */
export interface LimitedService {
  readonly url: string;
  readonly limiters: Readonly<Record<BudgetName, ServiceLimiter>>;
  readonly server: Server;
}

const answers = {
  requests: [200, () => ({ data: [], total: 0, skip: 0, limit: 50 })],
  emails: [200, () => ({ id: "1" })],
  events: [
    207,
    (weight: number) => ({
      accepted: weight,
      rejected: 0,
      results: Array.from({ length: weight }, (_, at) => ({
        status: 202,
        id: `${at}`,
        name: "x",
        outcome: "PROCESSED",
      })),
    }),
  ],
} as const;

const budgetOf = (url: string | undefined): BudgetName => {
  if (url?.includes("/events")) return "events";
  return url?.includes("/emails") ? "emails" : "requests";
};

/** Starts a service over a loopback socket. It counts requests, emails and events, and answers after `latencyMs`. */
export const limitedService = async (
  counting: Counting,
  limits: Readonly<Record<BudgetName, Limit>>,
  latencyMs: number,
): Promise<LimitedService> => {
  const limiters = {
    requests: serviceLimiter(counting, limits.requests),
    emails: serviceLimiter(counting, limits.emails),
    events: serviceLimiter(counting, limits.events),
  };
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece) => {
      body += String(piece);
    });
    request.on("end", () => {
      const now = performance.now();
      const budget = budgetOf(request.url);
      // Only the benchmark's own client sends requests.
      const weight =
        budget === "events" ? (JSON.parse(body) as { events: readonly object[] }).events.length : 1;
      const early = Math.max(
        limiters.requests.ask(1, now),
        budget === "requests" ? 0 : limiters[budget].ask(weight, now),
      );
      const [status, answer] = answers[budget];
      setTimeout(() => {
        const isEarly = early > 0;
        const retryAfter = isEarly && { "retry-after": String(Math.ceil(early / 1_000)) };
        response.writeHead(isEarly ? 429 : status, { "content-type": "application/json", ...retryAfter });
        response.end(JSON.stringify(isEarly ? { error: "too many" } : answer(weight)));
      }, latencyMs);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, limiters, server };
};
