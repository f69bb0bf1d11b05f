import { createServer as createHttpServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { connect, createServer, type LookupFunction } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { Agent, type buildConnector } from "undici";
import type { Listening, Sandbox } from "../../../../src/sandbox/index.ts";
import { selfSigned, trusted } from "./certificate.ts";
import { type FaultCase, type Place, planned, type Times } from "./fault-case.ts";
import { openFront, relayTo } from "./front.ts";
import { closeAtNextWrite, closeNow, connectionsTo } from "./sockets.ts";

// A name, so that it has to be looked up.
const name = "service.localhost";
const listenUnderName = (sandbox: Sandbox): Promise<Listening> => sandbox.listen({ allowedHosts: [name] });

/** The sandbox behind a dispatcher of the cell's own. */
const behind = (place: Listening, dispatcher: Agent): Place => ({
  url: `http://${name}:${place.port}`,
  port: place.port,
  options: { dispatcher },
  close: async () => {
    await Promise.all([dispatcher.destroy(), place.close()]);
  },
});

/** Looks every name up as `first` tells, the first time or always, and as this machine after that. */
const withLookup =
  (first: () => string | Error) =>
  async (sandbox: Sandbox, times: Times): Promise<Place> => {
    let lookups = 0;
    const lookup: LookupFunction = (_name, _options, answer) => {
      lookups += 1;
      const found = times === "always" || lookups === 1 ? first() : "127.0.0.1";
      if (typeof found === "string") answer(null, [{ address: found, family: 4 }]);
      else answer(found, []);
    };
    return behind(await listenUnderName(sandbox), new Agent({ connect: { lookup } }));
  };

const notFound = (): Error => Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" });

/** Connects to nowhere, the first time or always: neither refused nor accepted. */
export const endless = async (
  sandbox: Sandbox,
  times: Times,
  reached: () => void = () => undefined,
): Promise<Place> => {
  const server = await listenUnderName(sandbox);
  let connects = 0;
  const connector: buildConnector.connector = (_options, done) => {
    connects += 1;
    reached();
    if (times === "always" || connects === 1) return;
    const socket = connect(server.port, "127.0.0.1", () => done(null, socket));
  };
  const place = behind(server, new Agent({ connect: connector }));
  return { ...place, stalled: () => (times === "always" ? connects : 1) };
};

/** Opens a server on this machine, under https. */
const overTls = async (server: Server): Promise<Place> => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A TCP server always has an address object, never a pipe's name.
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}`,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of connectionsTo(port)) socket.destroy();
      }),
  };
};

const untrustedServer = (): Server => {
  const server = createTlsServer(selfSigned);
  // The client hangs up; that is the point.
  server.on("tlsClientError", () => undefined);
  return server;
};

/** Every connection meets the wrong server, or only the first, before a right one. */
const failedTls =
  (wrong: () => Server) =>
  async (sandbox: Sandbox, times: Times): Promise<Place> => {
    if (times === "always") return overTls(wrong());
    const first = wrong();
    const right = createHttpsServer(trusted, relayTo(sandbox));
    let connects = 0;
    const door = createServer((socket) => {
      connects += 1;
      (connects === 1 ? first : right).emit("connection", socket);
    });
    const place = await overTls(door);
    const lookup: LookupFunction = (_name, _options, answer) =>
      answer(null, [{ address: "127.0.0.1", family: 4 }]);
    const dispatcher = new Agent({ connect: { ca: trusted.cert, lookup } });
    return {
      url: `https://service.localhost:${place.port}`,
      port: place.port,
      options: { dispatcher },
      close: async () => {
        await Promise.all([dispatcher.destroy(), place.close()]);
      },
    };
  };

/** An address where nobody listens, on a port that is held, so that no other cell is given it. */
export const nobody = async (): Promise<Place> => {
  const { port, close } = await overTls(createServer());
  return { url: `http://127.0.0.9:${port}`, port, close };
};

/** After one call, which leaves its connection open. */
const afterOneCall = (strike: (port: number) => void) => async (sandbox: Sandbox) => {
  const front = await openFront(sandbox, {});
  return { ...front, warmUp: true, strike: () => strike(front.port) };
};

const neverLeft = { says: "nothing left", error: "ConnectionError", applies: false } as const;
const shortAttempt = { timeoutMs: 400 };

/** Faults of the connection: before it stands, and while nothing of an answer has come. */
export const connections: readonly FaultCase[] = [
  { ...neverLeft, name: "a refused connection", arrange: withLookup(() => "127.0.0.9") },
  { ...neverLeft, name: "a host name that does not resolve", arrange: withLookup(notFound) },
  { ...neverLeft, name: "an untrusted certificate", arrange: failedTls(untrustedServer) },
  { ...neverLeft, name: "a server that does not speak TLS", arrange: failedTls(() => createHttpServer()) },
  {
    ...neverLeft,
    error: "TimeoutError",
    name: "a connection that never opens",
    options: shortAttempt,
    arrange: endless,
  },
  {
    says: "unclear",
    error: "ConnectionError",
    applies: false,
    name: "a keep-alive connection that closes while the request is sent",
    times: ["once"],
    isUnread: true,
    arrange: afterOneCall(closeAtNextWrite),
  },
  {
    says: "a response",
    applies: false,
    name: "a keep-alive connection that closes before the request is sent",
    times: ["once"],
    arrange: afterOneCall(closeNow),
  },
  {
    says: "unclear",
    error: "ConnectionError",
    applies: false,
    name: "a reset before the service reads the request",
    arrange: planned("reset-before"),
  },
  {
    says: "unclear",
    error: "ConnectionError",
    applies: true,
    name: "a reset after the service applied the request",
    arrange: planned("reset-after-apply"),
  },
  {
    says: "unclear",
    error: "TimeoutError",
    applies: false,
    name: "no response, nothing applied",
    options: shortAttempt,
    arrange: planned("stall"),
  },
  {
    says: "unclear",
    error: "TimeoutError",
    applies: true,
    name: "no response, after the service applied the request",
    options: shortAttempt,
    arrange: planned("stall-after-apply"),
  },
];
