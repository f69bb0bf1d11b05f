/// <reference path="./undici-parts.d.ts" />
import type { Socket } from "node:net";
import connectBy from "undici/lib/api/api-connect.js";
import type { ConnectCallback } from "undici/lib/core/connect.js";
import Client from "undici/lib/dispatcher/client.js";
import EnvHttpProxyAgent, {
  type Connect,
  type Connecting,
} from "undici/lib/dispatcher/env-http-proxy-agent.js";

/** A proxy, and the hosts that need no proxy, in the syntax of `NO_PROXY`. */
export interface ProxySettings {
  /** The URL of the proxy, with user name and password if it requires them. */
  readonly proxy: string;
  readonly noProxy: string;
}

/** Opens a socket to a host and port. */
export type Open = (options: object, callback: ConnectCallback) => Socket;

/** Connects to an origin through a proxy. */
export interface ProxyTunnel {
  /** Host and port of the proxy. */
  readonly proxy: string;
  /** Connects to the origin. The signal can abort this at any stage. */
  readonly connect: Connect;
}

const refusal = (proxy: string, status: number): Error =>
  Object.assign(new Error(`the proxy ${proxy} answered ${status} to CONNECT`), {
    code: `PROXY_ANSWERED_${status}`,
  });

/**
 * Names the proxy in the error of a connection to it, because the hint then is about the proxy.
 *
 * A closed connection gets a code of its own: undici's client reconnects after UND_ERR_SOCKET, at once and without end.
 * A response that is not HTTP gets one because undici gives it none.
 */
const proxyError = (proxy: string, error: unknown): Error => {
  const { code, name, message }: { code?: unknown; name?: unknown; message?: unknown } = Object(error);
  const named = new Error(`the proxy ${proxy}: ${message}`, { cause: error });
  if (name === "HTTPParserError") return Object.assign(named, { code: "PROXY_SPEAKS_NO_HTTP" });
  return Object.assign(named, { code: code === "UND_ERR_SOCKET" ? "PROXY_CLOSED_CONNECTION" : code });
};

/**
 * Opens tunnels for undici's agent. Each tunnel has its own client, so that a stalled tunnel doesn't delay the others.
 */
const proxyClient = (proxy: URL, open: Open) => ({
  connect: async ({ signal, ...options }: Connecting): Promise<object> => {
    // undici sets the server name to the proxy's host even if that is an IP address, and Node warns about that. The
    // connector sets it correctly.
    const connect = ({ servername: _, ...to }: Partial<Connecting>, callback: ConnectCallback): void => {
      const socket = open(to, callback);
      const drop = (): void => void socket.destroy(signal.reason);
      if (signal.aborted) return drop();
      signal.addEventListener("abort", drop, { once: true });
    };
    const client = new Client(proxy.origin, { connect, headersTimeout: 0, bodyTimeout: 0 });
    const tunnel = await connectBy.call(client, options).catch((error: unknown) => {
      throw proxyError(proxy.host, error);
    });
    if (tunnel.statusCode === 200) return tunnel;
    tunnel.socket.destroy();
    throw refusal(proxy.host, tunnel.statusCode);
  },
});

const basic = ({ username, password }: URL): string => {
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(credentials).toString("base64")}`;
};

/**
 * Returns the tunnel of undici's proxy agent to an origin; undefined if `NO_PROXY` excludes the origin. The agent's
 * pools stay unused, because the library's own pool limits the time to connect, and can be closed.
 *
 * @param open - opens a socket to the proxy.
 */
export const proxyTunnel = (
  origin: string,
  { proxy, noProxy }: ProxySettings,
  open: Open,
): ProxyTunnel | undefined => {
  const url = new URL(proxy);
  const connects: (Connect | undefined)[] = [];
  const unused = { on: () => unused, dispatch: () => true };
  const agent = new EnvHttpProxyAgent({
    httpProxy: url.origin,
    httpsProxy: url.origin,
    noProxy,
    ...(url.username + url.password === "" ? {} : { token: basic(url) }),
    // The library's own pool limits the time to connect.
    requestTls: { timeout: 0 },
    clientFactory: () => proxyClient(url, open),
    factory: (_origin, { connect }) => {
      connects.push(connect);
      return unused;
    },
  });
  agent.dispatch({ origin, method: "GET", path: "/" }, { onRequestStart: () => undefined });
  // Don't connect directly as a fallback, because the network policy may require the proxy.
  if (connects.length !== 1)
    throw new Error(
      "touchpoint-sdk cannot connect through a proxy with this version of undici: install the newest undici 7",
    );
  const [connect] = connects;
  return connect && { proxy: url.host, connect };
};
