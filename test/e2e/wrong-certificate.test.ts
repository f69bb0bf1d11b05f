import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import tls from "node:tls";
import { afterEach, expect, test, vi } from "vitest";
import { Client, type ClientOptions } from "../../src/index.ts";
import { certificateAuthority } from "../support/certificates.ts";
import { openProxy } from "../support/proxy.ts";

const authority = certificateAuthority();
const certified = authority.issue("other.example");
const closing: (() => unknown)[] = [];

afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(closing.splice(0).map((close) => close()));
});

/** Makes this process trust the authority, which Node otherwise reads from a file when it starts. */
const trust = (): void => {
  const { connect } = tls;
  vi.spyOn(tls, "connect").mockImplementation(((options: object) =>
    connect({ ...options, ca: authority.cert })) as typeof connect);
};

const serve = async (): Promise<ClientOptions> => {
  const server: Server = createServer(certified);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => server.close());
  return { baseUrl: `https://localhost:${(server.address() as AddressInfo).port}` };
};

const serveProxy = async (): Promise<ClientOptions> => {
  const proxy = await openProxy({ certified });
  closing.push(proxy.close);
  return { baseUrl: "https://service.example", proxy: proxy.url };
};

test.each([
  ["the service", serve],
  ["the proxy", serveProxy],
])("a certificate of %s for another host fails every attempt at once", async (_what, open) => {
  trust();
  const options = { apiKey: "key", timeoutMs: 3_000, maxRetries: 1, ...(await open()) };
  await using client = new Client(options);
  for (const _call of [1, 2])
    await expect(client.contacts.list()).rejects.toMatchObject({
      code: "connection_failed",
      attempts: 2,
      outcome: "not-applied",
      cause: { code: "ERR_TLS_CERT_ALTNAME_INVALID" },
    });
});
