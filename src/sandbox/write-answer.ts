import type { ServerResponse } from "node:http";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { type Answer, drip } from "./answer.ts";
import type { SandboxClock } from "./sandbox-clock.ts";

const pack = ({ headers, body, delivery }: Answer): Buffer => {
  const encoding = headers["content-encoding"];
  if (encoding === undefined) return Buffer.from(body);
  if (encoding === "br") return brotliCompressSync(body);
  const packed = gzipSync(body);
  // The first ten bytes are gzip's header; a damaged byte after it breaks the stream or its checksum.
  return delivery === "gzip-corrupt" ? packed.fill(0xff, 12) : packed;
};

/** Writes an answer to a real connection, with its faults. */
export const writeAnswer = async (
  answer: Answer,
  response: ServerResponse,
  clock: SandboxClock,
): Promise<void> => {
  const { status, delivery } = answer;
  const { socket } = response;
  if (delivery === "reset") socket?.resetAndDestroy();
  if (delivery === "reset" || delivery === "stall") return;
  const bytes = pack(answer);
  if (delivery === "early-hints")
    await new Promise<void>((resolve) => response.writeEarlyHints({ link: "</>; rel=preload" }, resolve));
  const length = status === 204 ? {} : { "content-length": bytes.length };
  response.writeHead(status, { ...answer.headers, ...length });
  if (delivery === "truncate" || delivery === "stall-body")
    response.write(bytes.subarray(0, bytes.length >> 1), () => {
      // Not a reset, which would discard the half that was sent.
      if (delivery === "truncate") socket?.destroySoon();
    });
  else if (delivery === "drip") response.once("close", drip(bytes, clock, response));
  else response.end(bytes, () => delivery === "close-after" && socket?.destroySoon());
};
