import { createServer, type Server } from "node:http";
import type { Limit } from "../../src/options/limits.ts";
import type { Counting, ServiceLimiter } from "../../test/support/service-limiter.ts";
import { serviceLimiter } from "../../test/support/service-limiter.ts";

/** A service over a loopback socket that counts events, then answers after some time. */
export const limitedServer = async (
  counting: Counting,
  limit: Limit,
  latencyMs: () => number,
): Promise<{ readonly url: string; readonly limiter: ServiceLimiter; readonly server: Server }> => {
  const limiter = serviceLimiter(counting, limit);
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece) => {
      body += String(piece);
    });
    request.on("end", () => {
      const isBatch = request.url?.endsWith("/batch") ?? false;
      // What this benchmark's own client has sent.
      const events = isBatch ? (JSON.parse(body) as { events: readonly object[] }).events : [{}];
      const early = limiter.ask(events.length, performance.now());
      const results = events.map((_, at) => ({ status: 202, id: `${at}`, name: "x", outcome: "PROCESSED" }));
      const answer = isBatch
        ? { accepted: events.length, rejected: 0, results }
        : { id: "1", data: [], total: 0 };
      setTimeout(() => {
        response.writeHead(early > 0 ? 429 : isBatch ? 207 : 202, {
          "content-type": "application/json",
          ...(early > 0 && { "retry-after": "1" }),
        });
        response.end(JSON.stringify(early > 0 ? { error: "too many" } : answer));
      }, latencyMs());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, limiter, server };
};
