import { Client, type ClientOptions } from "../../../src/index.ts";
import { FakeClock } from "../../support/fake-clock.ts";

/** What the service answers: a status and a JSON body; undefined stands for none, an error for a lost connection. */
export type Served = readonly [status: number, body?: unknown] | Error | (() => Promise<Response>);

/** A request as it left. */
interface Left {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

let services = 0;

/** A client whose service plays a script, one entry a request. A request beyond it fails the test. */
export const served = (script: readonly Served[], options: ClientOptions = {}, random = 0) => {
  const requests: Left[] = [];
  // Clients of one origin share their budgets; tests must not.
  services += 1;
  const baseUrl = `https://service-${services}.test`;
  const clock = new FakeClock();
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const { pathname, search } = new URL(url);
    const answer = script[requests.length];
    const body = typeof init.body === "string" ? JSON.parse(init.body) : undefined;
    requests.push({ method: init.method ?? "", path: pathname + search, body });
    if (answer === undefined) throw new Error(`request ${requests.length} is not in the script`);
    if (answer instanceof Error) throw answer;
    if (typeof answer === "function") return answer();
    const [status, json] = answer;
    return new Response(json === undefined ? null : JSON.stringify(json), { status });
  };
  const client = new Client(
    { apiKey: "key", baseUrl, fetch, limits: false, ...options },
    { clock, random: () => random },
  );
  return { client, requests, clock };
};
