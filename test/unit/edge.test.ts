import { afterEach, expect, test, vi } from "vitest";
import { loadTunnel, undiciTransport } from "../../src/edge.ts";
import type { Dispatcher } from "../../src/index.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { bySpec } from "../support/sending.ts";

const settings = { origin: "https://crm.test", clock: systemClock, maxResponseBytes: 100 };
afterEach(() => vi.unstubAllGlobals());

test("where undici cannot run, the global fetch sends, looked up at each request", async () => {
  const transport = undiciTransport({ ...settings, dispatcher: undefined });
  const urls: string[] = [];
  vi.stubGlobal("fetch", async (url: string) => {
    urls.push(url);
    return Response.json({ total: 0 });
  });
  expect(await bySpec(transport.send)()).toMatchObject({ status: 200, json: { total: 0 } });
  expect(urls).toEqual(["https://crm.test/api/v1/contacts"]);
});

test("a dispatcher is refused there by name", () => {
  const dispatcher: Dispatcher = { dispatch: () => true };
  expect(() => undiciTransport({ ...settings, dispatcher })).toThrow(
    "dispatcher: undici does not run in this runtime; pass a fetch instead",
  );
});

test("a proxy is refused there by name", async () => {
  await expect(loadTunnel()).rejects.toThrow(
    "proxy: undici does not run in this runtime; pass a fetch instead",
  );
});
