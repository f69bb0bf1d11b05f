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
    /** Calls the listener when no connection could be opened. */
    on(event: "connectionError", listener: () => void): typeof this;
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
