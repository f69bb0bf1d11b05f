// undici ships no types for its inner files. Its client alone loads in a third of the time of the whole package, and,
// unlike the package's entry, does not change the global fetch.
declare module "undici/lib/dispatcher/client.js" {
  const Client: new (
    origin: string,
    options: object,
  ) => {
    dispatch(options: object, handler: object): boolean;
    close(): Promise<void>;
    /** Calls the listener when the socket closes. The error has the reason. */
    on(
      event: "disconnect",
      listener: (origin: URL, targets: readonly object[], error: Error & { readonly code?: unknown }) => void,
    ): typeof this;
  };
  export default Client;
}

declare module "undici/lib/core/connect.js" {
  import type { Socket } from "node:net";

  export type ConnectCallback = (error: Error | null, socket?: Socket) => void;
  const buildConnector: (options: {
    readonly timeout: number;
  }) => (options: object, callback: ConnectCallback) => Socket;
  export default buildConnector;
}

declare module "undici/lib/api/api-connect.js" {
  import type { Socket } from "node:net";

  /** A method of undici's clients: requests a tunnel from a proxy. */
  const connect: (
    this: object,
    options: object,
  ) => Promise<{ readonly statusCode: number; readonly socket: Socket }>;
  export default connect;
}

declare module "undici/lib/dispatcher/env-http-proxy-agent.js" {
  import type { ConnectCallback } from "undici/lib/core/connect.js";

  export interface Connecting {
    readonly signal: AbortSignal;
    /** The host for TLS: the origin's, if the connection goes through a proxy. */
    readonly servername?: string | undefined;
  }

  export type Connect = (options: Connecting, callback: ConnectCallback) => void;

  const EnvHttpProxyAgent: new (options: {
    readonly httpProxy: string;
    readonly httpsProxy: string;
    readonly noProxy: string;
    /** The value of `Proxy-Authorization`. */
    readonly token?: string;
    readonly requestTls: { readonly timeout: number };
    /** Creates the client that requests tunnels. */
    readonly clientFactory: () => { connect(options: Connecting): Promise<object> };
    /** Creates the dispatcher for an origin; it has to use `connect` if the origin is reached through the proxy. */
    readonly factory: (origin: unknown, options: { readonly connect?: Connect }) => object;
  }) => {
    dispatch(options: object, handler: object): boolean;
  };
  export default EnvHttpProxyAgent;
}
