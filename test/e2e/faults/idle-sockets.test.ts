import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { Client } from "../../../src/index.ts";
import { FakeClock, turn } from "../../support/fake-clock.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A service that says how long it keeps an idle connection, and counts those that are made and are open. */
const openService = async (keepAlive?: string) => {
  const sockets = { made: 0, open: 0 };
  // Node would add a hint of its own.
  const server = createServer({ keepAliveTimeout: 0 }, (_request, response) => {
    if (keepAlive !== undefined) response.setHeader("keep-alive", keepAlive);
    response.setHeader("connection", "keep-alive").end('{"data":[]}');
  });
  server.on("connection", (socket) => {
    sockets.made += 1;
    sockets.open += 1;
    socket.once("close", () => {
      sockets.open -= 1;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A TCP server always has an address object, never a pipe's name.
  const { port } = server.address() as AddressInfo;
  const clock = new FakeClock();
  const options = { baseUrl: `http://127.0.0.1:${port}`, apiKey: `idle-${port}`, limits: false } as const;
  const client = new Client(options, { clock });
  closers.push(async () => {
    await client.close();
    await new Promise((resolve) => server.close(resolve));
  });
  return { client, clock, sockets };
};

const serve = async (keepAlive?: string) => {
  const { client, sockets } = await openService(keepAlive);
  for (let calls = 0; calls < 3; calls += 1) {
    await client.contacts.list();
    await turn();
  }
  return sockets.made;
};

test("a connection is kept for the next call", async () => {
  expect(await serve(undefined)).toBe(1);
  expect(await serve("timeout=60")).toBe(1);
});

test("a connection that the service keeps for a second only is not used again", async () => {
  expect(await serve("timeout=1")).toBe(3);
});

// A gateway that reloads, or whose idle time-out is over, closes a connection at the moment at which a request leaves.
const email = { to: "ada@example.com", subject: "Hi", text: "Hi" };

test("an email never shares a connection, and what follows it uses the email's", async () => {
  const { client, clock, sockets } = await openService();
  const made: number[] = [];
  const calls = [
    () => client.contacts.list(),
    () => client.emails.send(email),
    () => client.emails.send(email),
    () => client.emails.schedule({ ...email, sendAt: new Date(clock.wallTime() + 60_000) }),
    () => client.contacts.list(),
  ];
  for (const call of calls) {
    await call();
    made.push(sockets.made);
  }
  expect(made).toEqual([1, 2, 3, 4, 4]);
  while (sockets.open > 1) await turn();
  expect(sockets).toEqual({ made: 4, open: 1 });
});

test("a create uses a connection that was idle for less than half a second, or a new one", async () => {
  const { client, clock, sockets } = await openService();
  const made: number[] = [];
  for (const idleMs of [0, 499, 500, 0]) {
    await clock.advance(idleMs);
    await client.contacts.create({ email: "ada@example.com" });
    made.push(sockets.made);
  }
  await clock.advance(10_000);
  await client.contacts.list();
  expect([...made, sockets.made]).toEqual([1, 1, 2, 2, 2]);
});

test("once a server has closed a connection unannounced, a create shares none", async () => {
  const contact = '{"id":"ct_1"}';
  const sockets: Socket[] = [];
  // The server closes its first connection right after the response, like tinyproxy. It resets any other connection
  // at its second request, as if that request had met the close.
  const server = createTcpServer((socket) => {
    const nth = sockets.push(socket);
    let requests = 0;
    socket
      .on("error", () => undefined)
      .on("data", () => {
        requests += 1;
        if (requests > 1) return socket.resetAndDestroy();
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${contact.length}\r\n\r\n${contact}`);
        if (nth === 1) socket.end();
      });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A TCP server always has an address object, never a pipe's name.
  const { port } = server.address() as AddressInfo;
  const options = { baseUrl: `http://127.0.0.1:${port}`, apiKey: `idle-${port}`, limits: false } as const;
  const client = new Client(options, { clock: new FakeClock() });
  closers.push(async () => {
    await client.close();
    await new Promise((resolve) => server.close(resolve));
  });
  await client.contacts.create({ email: "a@example.com" });
  while (sockets[0]?.closed === false) await turn();
  for (const name of ["b", "c", "d"]) await client.contacts.create({ email: `${name}@example.com` });
  expect(sockets).toHaveLength(4);
});
