import type { AddressInfo } from "node:net";
import { createServer } from "node:net";

/** Another origin, which must never be called. */
export interface Elsewhere {
  readonly url: string;
  readonly port: number;
  /** How often somebody connected. */
  readonly connections: number;
  close(): Promise<void>;
}

/** Opens another origin on this machine. */
export const openElsewhere = async (): Promise<Elsewhere> => {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A TCP server always has an address object, never a pipe's name.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    get connections() {
      return connections;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
};
