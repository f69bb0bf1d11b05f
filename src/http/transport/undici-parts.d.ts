// undici ships no types for its inner files. Its client alone loads in a third of the time of the whole package,
// and, unlike the package's entry, leaves the host's global fetch as it was.
declare module "undici/lib/dispatcher/client.js" {
  const Client: new (
    origin: string,
    options: object,
  ) => {
    dispatch(options: object, handler: object): boolean;
    close(): Promise<void>;
  };
  export default Client;
}

declare module "undici/lib/core/connect.js" {
  import type { Socket } from "node:net";

  type Connect = (options: object, callback: (error: Error | null, socket?: Socket) => void) => Socket;
  const buildConnector: (options: { readonly timeout: number }) => Connect;
  export default buildConnector;
}
