import { createServer, type IncomingMessage } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, type Server, type Socket } from "node:net";
import type { Certified } from "./certificates.ts";

export interface ProxyOptions {
  /** The proxy itself uses TLS, with this certificate. */
  readonly certified?: Certified;
  /** The response to every CONNECT. 200, the default, opens a tunnel to that port of this machine. */
  readonly status?: number;
  /** `connect`: the proxy never responds. `tunnel`: the proxy responds, but opens no tunnel. */
  readonly stalls?: "connect" | "tunnel";
  /** Instead of a response to CONNECT, the proxy closes the connection, as a server does that is no proxy. */
  readonly closes?: boolean;
}

/** An HTTP proxy that only tunnels, and resolves every name to this machine. */
export interface TestProxy {
  readonly url: string;
  readonly port: number;
  /** The CONNECT requests: their targets and credentials. */
  readonly connects: { readonly target: string; readonly authorization: string | undefined }[];
  /** Its connections to clients. */
  readonly open: ReadonlySet<Socket>;
  /** Resolves on the next CONNECT; if tunnels stall, when the client sends data into one. */
  nextConnect(): Promise<void>;
  close(): Promise<void>;
}

export const openProxy = async (options: ProxyOptions = {}): Promise<TestProxy> => {
  const { certified, status = 200, stalls, closes = false } = options;
  const connects: TestProxy["connects"] = [];
  const open = new Set<Socket>();
  let notify: () => void = () => undefined;
  const server: Server = certified === undefined ? createServer() : createTlsServer(certified);
  server.on("connection", (socket: Socket) => {
    open.add(socket.on("error", () => undefined));
    socket.once("close", () => open.delete(socket));
  });
  server.on("connect", (request: IncomingMessage, socket: Socket) => {
    const target = request.url ?? "";
    connects.push({ target, authorization: request.headers["proxy-authorization"] });
    // Read the data, to notice that the client has gone. In a tunnel, the client starts TLS.
    if (stalls !== undefined) socket.on("data", () => notify()).once("end", () => socket.end());
    if (stalls !== "tunnel") notify();
    if (stalls === "connect") return;
    if (closes) return socket.end();
    if (status !== 200) return socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`);
    if (stalls === "tunnel") return socket.write("HTTP/1.1 200 OK\r\n\r\n");
    const onward = connect(Number(target.split(":").at(-1)), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      socket.pipe(onward).pipe(socket);
    });
    socket.once("close", () => onward.destroy());
    onward.on("error", () => socket.destroy()).once("close", () => socket.destroy());
    socket.on("error", () => onward.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // The proxy listens on a port, so the address is an object.
  const { port } = server.address() as AddressInfo;
  return {
    url: `${certified === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    port,
    connects,
    open,
    nextConnect: () =>
      new Promise((resolve) => {
        notify = resolve;
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
};
