import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { isLoopback } from "../runtime/values.ts";
import { type Answer, type Incoming, Refusal, replyTo } from "./answer.ts";
import type { App } from "./app.ts";
import type { Listening, ListenOptions } from "./options.ts";
import type { Workbench } from "./workbench/workbench.ts";

/** The host name in a `Host` header, in lower case and without the port; undefined if there is none. */
const nameIn = (header: string | undefined): string | undefined => {
  const url = `http://${header ?? ""}`;
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$|\.$/g, "") : undefined;
};

/**
 * Whether the `Host` header of a request names this server. With DNS rebinding, an attacker makes the host name of a
 * web page resolve to this machine. Requests from that page carry its host name, and must not reach the sandbox. An IP
 * address cannot be rebound.
 *
 * @param names - the host that the server listens on, and the allowed hosts.
 * @param address - the local address of this connection.
 */
export const isMeantHere = (
  header: string | undefined,
  names: readonly string[],
  address: string | undefined,
): boolean => {
  const name = nameIn(header);
  if (name === undefined) return false;
  const own = [address?.replace(/^::ffff:/, ""), ...names.map((host) => nameIn(bracketed(host)))];
  return isLoopback(name) || own.includes(name);
};

/** Writes a host as in a URL: an IPv6 address gets brackets. */
const bracketed = (host: string): string =>
  host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;

const readRequest = async (request: IncomingMessage): Promise<Incoming> => ({
  method: request.method ?? "GET",
  target: request.url ?? "/",
  headers: Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)])),
  body: await text(request),
  isGone: () => request.socket.destroyed,
});

const writeAnswer = ({ status, headers, body, delivery }: Answer, response: ServerResponse): void => {
  const { socket } = response;
  if (delivery === "reset") socket?.resetAndDestroy();
  if (delivery === "reset" || delivery === "stall") return;
  const bytes = Buffer.from(body);
  const length = status === 204 ? {} : { "content-length": bytes.length };
  response.writeHead(status, { ...headers, ...length });
  if (delivery !== "truncate") return void response.end(bytes);
  response.write(bytes.subarray(0, bytes.length >> 1));
  // Don't reset the connection, because that would discard the half that was sent.
  socket?.destroySoon();
};

const otherHost = new Refusal(
  403,
  "The sandbox does not accept this host name: use localhost, or add the name to allowedHosts (--allow-host).",
);
const workbenchOff = new Refusal(
  404,
  "Other machines can reach this sandbox, so its workbench is off. To turn it on: listen({ workbench: true }) or --workbench.",
);

export const baseUrlAt = (host: string, port: number): string => `http://${bracketed(host)}:${port}`;

interface Served {
  readonly app: App;
  /** Creates the page at `/` and its controls. */
  readonly workbench: () => Workbench;
}

export const listen = async (
  { app, ...served }: Served,
  { port = 0, host = "127.0.0.1", allowedHosts = [], ...options }: ListenOptions,
): Promise<Listening> => {
  const { workbench = isLoopback(nameIn(bracketed(host)) ?? "") } = options;
  const bench = workbench ? served.workbench() : undefined;
  const names = [host, ...allowedHosts];
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const incoming = await readRequest(request);
    const address = request.socket.localAddress;
    const refuse = (refusal: Refusal) => writeAnswer(replyTo(refusal), response);
    if (!isMeantHere(request.headers.host, names, address)) return refuse(otherHost);
    if (await bench?.serve(incoming, request, response)) return;
    if (bench === undefined && /^\/(_sandbox\/|\?|$)/.test(incoming.target)) return refuse(workbenchOff);
    writeAnswer(await app(incoming), response);
  };
  const server = createServer((request, response) => {
    // The caller disconnected before its request was complete.
    serve(request, response).catch(() => response.destroy());
  });
  await once(server.listen(port, host), "listening");
  // `address()` returns an object for a TCP server; only a pipe has a string.
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: baseUrlAt(host, bound),
    port: bound,
    close: () =>
      new Promise((resolve) => {
        bench?.close();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
