import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type Incoming, Refusal } from "../answer.ts";
import type { App } from "../app.ts";
import { replyTo } from "../reply.ts";
import type { SandboxClock } from "../sandbox-clock.ts";
import { bracketed, isMeantHere } from "./hosts.ts";
import { writeAnswer } from "./write-answer.ts";

/** Where to listen. */
export interface ListenOptions {
  /** 0 to 65,535; default: 0, one that is free. */
  readonly port?: number;
  /** The address to bind; default: 127.0.0.1, this machine only. */
  readonly host?: string;
  /**
   * Further names it may be called by, such as a service of docker compose. Requests to any name but these, `host`
   * and this machine's own are refused with 403.
   */
  readonly allowedHosts?: readonly string[];
  /** How long an idle connection is kept, told to the caller in `Keep-Alive`; in milliseconds, default: 5,000. */
  readonly keepAliveMs?: number;
}

/** A running server. */
export interface Listening {
  /** The base URL for a client, for instance `http://127.0.0.1:41234`. */
  readonly url: string;
  /** The port it listens at. */
  readonly port: number;
  /** Stops listening and breaks every open connection. */
  close(): Promise<void>;
}

const headersOf = (request: IncomingMessage): Record<string, string> => {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers[name] = typeof value === "string" ? value : value.join(", ");
  }
  return headers;
};

const readRequest = (request: IncomingMessage): Promise<Incoming> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("error", reject);
    request.on("end", () =>
      resolve({
        method: request.method ?? "GET",
        target: request.url ?? "/",
        headers: headersOf(request),
        body: chunks.length === 0 ? "" : Buffer.concat(chunks).toString(),
      }),
    );
  });

/** What the server leads to. */
export interface Served {
  readonly app: App;
  readonly clock: SandboxClock;
  /** The page at `/`, as HTML. */
  readonly page: () => string;
}

const pageHeaders = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  // What an email holds must neither run nor call home while it is looked at.
  "content-security-policy":
    "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'; frame-ancestors 'none'",
};

const otherHost = replyTo(
  new Refusal(403, "The sandbox is not called by this host name: use localhost, or name it in allowedHosts."),
);

const serve = async (
  { app, clock, page }: Served,
  request: IncomingMessage,
  response: ServerResponse,
  names: readonly string[],
): Promise<void> => {
  const incoming = await readRequest(request);
  if (!isMeantHere(request.headers.host, { names, address: request.socket.localAddress })) {
    await writeAnswer(otherHost, response, clock);
    return;
  }
  if (incoming.method === "GET" && incoming.target === "/") {
    response.writeHead(200, pageHeaders).end(page());
    return;
  }
  await writeAnswer(await app(incoming), response, clock);
};

/** The base URL at an address: one of IPv6 stands in brackets. */
export const baseUrlAt = (host: string, port: number): string => `http://${bracketed(host)}:${port}`;

/** Opens the door with sockets: the same app behind a real HTTP server. */
export const listen = async (
  served: Served,
  { port = 0, host = "127.0.0.1", allowedHosts = [], keepAliveMs = 5_000 }: ListenOptions = {},
): Promise<Listening> => {
  const server = createServer({ keepAliveTimeout: keepAliveMs }, (request, response) => {
    // A caller that went away mid-request leaves nobody to answer.
    serve(served, request, response, [host, ...allowedHosts]).catch(() => response.destroy());
  });
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  // A TCP server always has an address object, never a pipe's name.
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: baseUrlAt(host, bound),
    port: bound,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
};
