/// <reference path="./undici-parts.d.ts" />
import type { Socket } from "node:net";
import connectBy from "undici/lib/api/api-connect.js";
import type { ConnectCallback } from "undici/lib/core/connect.js";
import Client from "undici/lib/dispatcher/client.js";
import EnvHttpProxyAgent, {
  type Connect,
  type Connecting,
} from "undici/lib/dispatcher/env-http-proxy-agent.js";

/** A proxy, and the hosts that are reached without it, as `NO_PROXY` lists them. */
export interface ProxySettings {
  /** Its URL, with a user name and password where it wants them. */
  readonly proxy: string;
  readonly noProxy: string;
}

/** Makes a socket to a host and port. */
export type Open = (options: object, callback: ConnectCallback) => Socket;

/** A way through a proxy. */
export interface ProxyTunnel {
  /** Host and port of the proxy. */
  readonly proxy: string;
  /** Connects to the origin; the signal ends it at any stage. */
  readonly connect: Connect;
}

const refusal = (proxy: string, status: number): Error =>
  Object.assign(new Error(`the proxy ${proxy} answered ${status} to CONNECT`), {
    code: `PROXY_ANSWERED_${status}`,
  });

/** What undici's agent asks for a tunnel. A client for each: one that stalls holds up no other. */
const proxyClient = (proxy: URL, open: Open) => ({
  connect: async ({ signal, ...options }: Connecting): Promise<object> => {
    // undici names the proxy, also where it is an address, of which Node warns; the connector knows better.
    const connect = ({ servername: _, ...to }: Partial<Connecting>, callback: ConnectCallback): void => {
      const socket = open(to, callback);
      const drop = (): void => void socket.destroy(signal.reason);
      if (signal.aborted) return drop();
      signal.addEventListener("abort", drop, { once: true });
    };
    const client = new Client(proxy.origin, { connect, headersTimeout: 0, bodyTimeout: 0 });
    const tunnel = await connectBy.call(client, options);
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
 * How undici's own agent for proxies reaches an origin; undefined where `NO_PROXY` says directly. Its pools stay unused: the
 * client's own keeps the key from undici's diagnostics channels, bounds connecting, and can be closed.
 *
 * @param open - makes a socket to the proxy.
 */
export const proxyTunnel = (
  origin: string,
  { proxy, noProxy }: ProxySettings,
  open: Open,
): ProxyTunnel | undefined => {
  const url = new URL(proxy);
  const found: (Connect | undefined)[] = [];
  const unused = { on: () => unused, dispatch: () => true };
  const agent = new EnvHttpProxyAgent({
    httpProxy: url.origin,
    httpsProxy: url.origin,
    noProxy,
    ...(url.username + url.password === "" ? {} : { token: basic(url) }),
    // Bounded from outside.
    requestTls: { timeout: 0 },
    clientFactory: () => proxyClient(url, open),
    factory: (_origin, { connect }) => {
      found.push(connect);
      return unused;
    },
  });
  agent.dispatch({ origin, method: "GET", path: "/" }, { onRequestStart: () => undefined });
  // Never directly for want of knowing better: who wants a proxy may have to stay behind it.
  if (found.length !== 1) throw new Error("undici's agent for proxies works in another way now");
  const [connect] = found;
  return connect && { proxy: url.host, connect };
};
