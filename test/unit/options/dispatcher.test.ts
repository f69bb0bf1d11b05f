import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import * as undici7 from "undici";
import * as undici5 from "undici5";
import * as undici6 from "undici6";
import { describe, expect, test } from "vitest";
import { Client, ConfigurationError } from "../../../src/index.ts";

const origin = "http://127.0.0.1:1";
type Undici = Pick<typeof undici7, "Agent" | "Client" | "MockAgent" | "Pool" | "ProxyAgent">;

const dispatchersOf = ({ Agent, Client, MockAgent, Pool, ProxyAgent }: Undici): readonly object[] => [
  ...[new Agent(), new Client(origin), new Pool(origin), new ProxyAgent(origin)],
  ...[new MockAgent(), new MockAgent().get(origin)],
];

// The types of one version do not fit another; what is read here has stayed the same.
const as7 = (undici: unknown): typeof undici7 => undici as typeof undici7;
const passOn = (dispatch: undici7.Dispatcher.Dispatch): undici7.Dispatcher.Dispatch => dispatch;
const composed = [
  (undici: typeof undici7) => new undici.Agent().compose(passOn),
  (undici: typeof undici7) => new undici.Pool(origin).compose([passOn, undici.interceptors.retry()]),
  (undici: typeof undici7) => new undici.RetryAgent(new undici.Agent()),
];

/** Builds a client with a dispatcher, which may be anything at run time. */
const clientWith = (dispatcher: object): Client =>
  new Client({ apiKey: "k", baseUrl: origin, dispatcher: dispatcher as undici7.Dispatcher });

const refusal =
  "dispatcher: dispatcher must be of undici 7 or 8, but this one is of an older version: run npm install undici@7";

describe("a dispatcher", () => {
  const old = [
    ...dispatchersOf(as7(undici5)),
    ...dispatchersOf(as7(undici6)),
    ...composed.map((make) => make(as7(undici6))),
    new undici6.Agent().compose((dispatch) => dispatch),
  ];
  test.each(old.map((dispatcher) => [dispatcher.constructor.name, dispatcher]))(
    "of undici 5 or 6 is refused: %s",
    (_name, dispatcher) => {
      expect(() => clientWith(dispatcher)).toThrow(new ConfigurationError(refusal));
    },
  );

  const known = [...dispatchersOf(undici7), ...composed.map((make) => make(undici7))];
  test.each(known.map((dispatcher) => [dispatcher.constructor.name, dispatcher]))(
    "of undici 7 is taken: %s",
    async (_name, dispatcher) => {
      await clientWith(dispatcher).close();
    },
  );

  test("of your own needs only `dispatch`", async () => {
    await clientWith({ dispatch: () => true }).close();
  });

  test("of your own over undici 6 is refused at the first request, which is not repeated", async () => {
    let calls = 0;
    const agent = new undici6.Agent();
    const dispatch = (
      options: undici6.Dispatcher.DispatchOptions,
      handler: undici6.Dispatcher.DispatchHandlers,
    ) => {
      calls += 1;
      return agent.dispatch(options, handler);
    };
    const client = clientWith({ dispatch });
    await expect(client.contacts.list()).rejects.toThrow(new ConfigurationError(refusal));
    expect(calls).toBe(1);
    await client.close();
  });

  test("that refuses nothing is not asked to send by `new Client()`", async () => {
    const requests: string[] = [];
    const server = createServer((request, response) => {
      requests.push(request.url ?? "");
      response.end();
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    // Listening on a port of TCP: the address is no path.
    const { port } = server.address() as AddressInfo;
    let intercepted = 0;
    const dispatcher = new undici7.Agent().compose((dispatch) => (options, handler) => {
      intercepted += 1;
      return dispatch(options, handler);
    });
    const client = new Client({ apiKey: "k", baseUrl: `http://127.0.0.1:${port}`, dispatcher });
    await client.close();
    expect([requests, intercepted]).toEqual([[], 0]);
    server.close();
  });
});
