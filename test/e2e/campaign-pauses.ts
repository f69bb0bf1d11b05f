import type { Clock } from "../../src/runtime/clock.ts";

type Fetch = typeof fetch;

const budgetOf = (method: string, path: string): string => {
  if (path.startsWith("/api/v1/events")) return "events";
  return path === "/api/v1/emails" && method === "POST" ? "emails" : "requests";
};

/** A fetch that knows which requests the service has asked not to send yet. */
export class PauseWatch {
  readonly breaches: string[] = [];
  readonly fetch: Fetch;
  readonly #pauses = new Map<string, { readonly since: number; readonly until: number }>();

  constructor(clock: Pick<Clock, "now">, fetch: Fetch) {
    this.fetch = async (url, init) => {
      // The library gives a string.
      const { pathname } = new URL(String(url));
      const budget = budgetOf(init?.method ?? "GET", pathname);
      // Every call spends the requests too.
      for (const name of new Set(["requests", budget])) {
        const pause = this.#pauses.get(name);
        const now = clock.now();
        // What leaves at the very moment of the answer has crossed it on the way.
        if (pause !== undefined && pause.since < now && now < pause.until)
          this.breaches.push(`${pathname} went out ${pause.until - now} ms too early`);
      }
      const response = await fetch(url, init);
      const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
      if ((response.status !== 429 && response.status !== 503) || Number.isNaN(seconds)) return response;
      const body = await response.text();
      const now = clock.now();
      const before = this.#pauses.get(budget);
      const isStillOn = before !== undefined && now < before.until;
      const until = Math.max(before?.until ?? 0, now + seconds * 1_000);
      this.#pauses.set(budget, { since: isStillOn ? before.since : now, until });
      return new Response(body, response);
    };
  }
}
