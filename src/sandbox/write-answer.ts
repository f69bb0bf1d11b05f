import type { ServerResponse } from "node:http";
import { brotliCompressSync, gzipSync } from "node:zlib";
import type { Answer, Packing } from "./answer.ts";
import type { SandboxClock } from "./sandbox-clock.ts";

const dripBytes = 8;

const pack = (body: string, packing: Packing): Buffer => {
  if (packing === "br") return brotliCompressSync(body);
  const packed = gzipSync(body);
  // The first ten bytes are gzip's header; a damaged byte after it breaks the stream or its checksum.
  if (packing === "gzip-corrupt") packed.fill(0xff, 12);
  return packed;
};

const drip = (response: ServerResponse, bytes: Buffer, everyMs: number, clock: SandboxClock): void => {
  let at = 0;
  const step = (): void => {
    if (response.destroyed) return;
    response.write(bytes.subarray(at, at + dripBytes));
    at += dripBytes;
    if (at >= bytes.length) response.end();
    else clock.after(everyMs, step);
  };
  step();
};

const headersFor = (answer: Answer, bytes: Buffer): Record<string, string | string[]> => {
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(answer.headers)) {
    headers[name] = typeof value === "string" ? value : [...value];
  }
  if (answer.status !== 204) headers["content-length"] = String(bytes.length);
  if (answer.packing !== undefined) headers["content-encoding"] = answer.packing === "br" ? "br" : "gzip";
  return headers;
};

/** Writes an answer to a real connection, with its faults. */
export const writeAnswer = async (
  answer: Answer,
  response: ServerResponse,
  clock: SandboxClock,
): Promise<void> => {
  const { delivery } = answer;
  if (delivery.kind === "reset") {
    response.socket?.resetAndDestroy();
    return;
  }
  if (delivery.kind === "stall") return;
  const bytes = answer.packing === undefined ? Buffer.from(answer.body) : pack(answer.body, answer.packing);
  if (delivery.kind === "early-hints") {
    await new Promise<void>((resolve) => response.writeEarlyHints({ link: "</>; rel=preload" }, resolve));
  }
  response.writeHead(answer.status, headersFor(answer, bytes));
  if (delivery.kind === "part") {
    response.write(bytes.subarray(0, bytes.length >> 1), () => {
      // Not a reset, which would discard the half that was sent.
      if (delivery.then === "reset") response.socket?.destroySoon();
    });
  } else if (delivery.kind === "drip") drip(response, bytes, delivery.everyMs, clock);
  else {
    const { socket } = response;
    response.end(bytes, () => {
      if (delivery.kind === "close-after") socket?.destroySoon();
    });
  }
};
