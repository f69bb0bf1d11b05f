import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Listening, Sandbox } from "../../../../src/sandbox/index.ts";
import { connectionsTo } from "./sockets.ts";

/** What the sandbox answered, before it is spoilt. */
export interface Truth {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Takes the place of the answer's way back; called once the sandbox has applied the request. */
export type Deliver = (response: ServerResponse, truth: Truth, nth: number) => void;

export interface FrontOptions {
  readonly deliver?: Deliver;
  /** Asked before the sandbox sees the request; what does not pass stops there for good. */
  readonly admits?: (nth: number) => boolean;
}

/** Writes the answer as it is. */
export const whole: Deliver = (response, { status, headers, body }) => {
  response.writeHead(status, headers).end(body);
};

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};

/** Hands requests on to a sandbox, and its answers back; the sandbox stays the truth of what was done. */
export const relayTo = (
  sandbox: Sandbox,
  { deliver = whole, admits = () => true }: FrontOptions = {},
): RequestListener => {
  let seen = 0;
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    seen += 1;
    const nth = seen;
    const body = await readBody(request);
    if (!admits(nth)) return;
    const { method = "GET", url = "/", headers } = request;
    const answer = await sandbox.fetch(`http://sandbox${url}`, {
      method,
      headers: { authorization: headers.authorization ?? "", "content-type": "application/json" },
      ...(body === "" ? {} : { body }),
    });
    const text = await answer.text();
    deliver(
      response,
      { status: answer.status, headers: Object.fromEntries(answer.headers), body: text },
      nth,
    );
  };
  return (request, response) => {
    // Whoever has gone away needs no answer.
    pass(request, response).catch(() => response.destroy());
  };
};

/** A server before a sandbox, for what the sandbox's own door cannot do. */
export const openFront = async (sandbox: Sandbox, options: FrontOptions): Promise<Listening> => {
  const server = createServer(relayTo(sandbox, options));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A TCP server always has an address object, never a pipe's name.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of connectionsTo(port)) socket.destroy();
      }),
  };
};
