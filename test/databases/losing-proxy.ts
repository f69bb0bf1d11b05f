import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

// ReadyForQuery, the last message of PostgreSQL to a statement: what was not in a transaction is committed.
const ready = Buffer.from("Z\0\0\0\x05I", "latin1");

/** A proxy to PostgreSQL that ends a connection in place of passing on the response to a statement. */
export interface LosingProxy {
  readonly port: number;
  /** How many responses were lost. */
  lost(): number;
  /** Ends the connection behind the `nth` statement from now on that has this text. */
  lose(text: string, nth: number): void;
  close(): void;
}

export const losingProxy = async (port: number): Promise<LosingProxy> => {
  const sockets = new Set<Socket>();
  let lost = 0;
  let left = 0;
  let text = "";
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    let isLosing = false;
    const end = (): void => {
      near.destroy();
      far.destroy();
    };
    near.on("data", (bytes) => {
      if (left > 0 && bytes.includes(text)) {
        left -= 1;
        isLosing = left === 0;
      }
      far.write(bytes);
    });
    far.on("data", (bytes) => {
      // postgres.js waits for the description of a statement before it lets it run.
      if (!isLosing || !bytes.includes(ready)) return near.write(bytes);
      lost += 1;
      end();
    });
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("close", end).on("error", () => undefined);
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    // It listens on a port, so the address is an object.
    port: (server.address() as AddressInfo).port,
    lost: () => lost,
    lose: (some, nth) => {
      text = some;
      left = nth;
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
};
