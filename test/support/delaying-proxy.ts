import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A proxy to a port of this machine that delays all data by `latencyMs` in each direction. */
export const delayingProxy = async (port: number, latencyMs: number) => {
  const sockets = new Set<Socket>();
  const pass = (from: Socket, to: Socket): void => {
    from.on("data", (bytes) => setTimeout(() => to.write(bytes), latencyMs));
    from.on("close", () => to.destroy());
    from.on("error", () => undefined);
    sockets.add(from);
  };
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    pass(near, far);
    pass(far, near);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = (): void => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  // The server listens on a port, so the address is an object.
  return { port: (server.address() as AddressInfo).port, close };
};
