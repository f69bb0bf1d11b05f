import type { Socket } from "node:net";
import type { ConnectCallback } from "undici/lib/core/connect.js";
import Client from "undici/lib/dispatcher/client.js";

/** Opens a socket to a host and port, or TLS on the socket `httpSocket`. */
export type Open = (options: object, callback: ConnectCallback) => Socket;

/** Opens connections to an origin through a proxy. */
export interface Tunnel {
  /** Host and port of the proxy. */
  readonly proxy: string;
  /**
   * Connects to the origin. The signal can abort this at any stage.
   *
   * @param to - the options with which undici connects to the origin.
   */
  connect(
    to: object,
    connecting: { readonly open: Open; readonly signal: AbortSignal },
    callback: ConnectCallback,
  ): void;
}

const refusal = (proxy: string, status: number | undefined): Error =>
  Object.assign(new Error(`the proxy ${proxy} answered ${status} to CONNECT`), {
    code: `PROXY_ANSWERED_${status}`,
  });

/**
 * Names the proxy in the error of a connection to it, because the hint then is about the proxy. A closed connection gets
 * another code, because the client of the service would reconnect after UND_ERR_SOCKET, at once and without end.
 */
const proxyError = (proxy: string, error: Error & { readonly code?: string }): Error => {
  let { code } = error;
  if (code === "UND_ERR_SOCKET") code = "ECONNRESET";
  if (error.name === "HTTPParserError") code = "PROXY_SPEAKS_NO_HTTP";
  return Object.assign(new Error(`the proxy ${proxy}: ${error.message}`, { cause: error }), { code });
};

const authorizationOf = ({ username, password }: URL): Readonly<Record<string, string>> => {
  if (username + password === "") return {};
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(credentials).toString("base64")}` };
};

/** The tunnel to an origin through the proxy with this URL. Each connection has its own tunnel. */
export const tunnelTo = (origin: string, proxyUrl: string): Tunnel => {
  const service = new URL(origin);
  const isTls = service.protocol === "https:";
  const host = `${service.hostname}:${service.port || (isTls ? 443 : 80)}`;
  const proxy = new URL(proxyUrl);
  const { protocol, port } = proxy;
  // Connecting to an IPv6 address takes no brackets.
  const toProxy = { protocol, port, host: proxy.host, hostname: proxy.hostname.replace(/^\[|\]$/g, "") };
  return {
    proxy: proxy.host,
    connect: (to, { open, signal }, callback) => {
      const fail = (error: Error): void => callback(proxyError(proxy.host, error));
      const connect = (_: unknown, connected: ConnectCallback): void => {
        const socket = open(toProxy, (error, proxySocket) =>
          error === null ? connected(null, proxySocket) : fail(error),
        );
        signal.addEventListener("abort", () => socket.destroy(signal.reason), { once: true });
      };
      // Don't use `node:http` here. MSW and other test doubles replace its `request` and ignore `createConnection`.
      const client = new Client(proxy.origin, { connect, headersTimeout: 0, bodyTimeout: 0 });
      const headers = { host, "proxy-connection": "keep-alive", ...authorizationOf(proxy) };
      const handler = {
        onRequestStart: () => undefined,
        onResponseError: (_: unknown, error: Error) => fail(error),
        onRequestUpgrade: (_: unknown, status: number, _headers: unknown, socket: Socket) => {
          if (status !== 200) {
            socket.destroy();
            return callback(refusal(proxy.host, status));
          }
          if (isTls) open({ ...to, httpSocket: socket }, callback);
          else callback(null, socket);
        },
      };
      client.dispatch({ method: "CONNECT", path: host, headers }, handler);
    },
  };
};
