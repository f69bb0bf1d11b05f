import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";

/** Every open connection of this process's servers, by the port of the server. */
const open = new Map<number, Set<Socket>>();

// Both ends are in this process, so what the client leaves open shows here.
subscribe("net.server.socket", (message) => {
  // As node:net publishes it.
  const { socket } = message as { readonly socket: Socket };
  const port = socket.localPort ?? 0;
  const same = open.get(port) ?? new Set();
  open.set(port, same.add(socket));
  socket.once("close", () => same.delete(socket));
});

/** The sockets of this process's clients that are open or being opened, until they tell of their end. */
export const clientSockets: Set<Socket> = new Set();

subscribe("net.client.socket", (message) => {
  // As node:net publishes it.
  const { socket } = message as { readonly socket: Socket };
  clientSockets.add(socket);
  socket.once("close", () => clientSockets.delete(socket));
});

/** The open connections to a port of this machine. */
export const connectionsTo = (port: number): readonly Socket[] => [...(open.get(port) ?? [])];

/** Resolves when no connection to the port is left; a leak shows as a test that does not end. */
export const allClosed = async (port: number): Promise<void> => {
  // The server may yet be told of one that its client has made and closed.
  for (let left = connectionsTo(port); left.length > 0; left = connectionsTo(port))
    await Promise.all(left.map((socket) => new Promise((resolve) => socket.once("close", resolve))));
};

const strikes = new Map<number, () => void>();

subscribe("undici:client:sendHeaders", (message) => {
  // As undici publishes it, before it writes the first byte.
  const { socket } = message as { readonly socket: Socket };
  const strike = strikes.get(socket.remotePort ?? 0);
  strikes.delete(socket.remotePort ?? 0);
  strike?.();
});

/** Closes every connection to the port; the other end has yet to hear of it. */
export const closeNow = (port: number): void => {
  for (const socket of connectionsTo(port)) socket.destroy();
};

/** Closes every connection to the port when the next request has chosen its socket and not yet written to it. */
export const closeAtNextWrite = (port: number): void => {
  strikes.set(port, () => closeNow(port));
};

/** Calls back once, at the next notice of undici about a request to the port. */
const nextNotice = (channel: string) => {
  const waiting = new Map<string, () => void>();
  subscribe(channel, (message) => {
    // As undici publishes it.
    const { request } = message as { readonly request: { readonly origin: URL | string } };
    const { port } = new URL(request.origin);
    const callback = waiting.get(port);
    waiting.delete(port);
    callback?.();
  });
  return (port: number, callback: () => void): void => void waiting.set(String(port), callback);
};

/** Calls back once, when the client has the headers of the next answer from the port. */
export const afterNextHeaders = nextNotice("undici:request:headers");

/** Calls back once, when the client has the first piece of the next body from the port. */
export const afterNextPiece = nextNotice("undici:request:bodyChunkReceived");
