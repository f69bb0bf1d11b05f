import { once } from "node:events";
import { createServer } from "node:net";

/** Returns a port of the loopback interface that no program uses now. */
export const freePort = async (): Promise<number> => {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  return typeof address === "object" && address !== null ? address.port : 0;
};
