import { expect, test } from "vitest";
import { BadRequestError, Client, type RejectedEvent } from "../../src/index.ts";

const reason = new BadRequestError("of another call", {
  ...{ operation: "contacts.update", outcome: "not-applied", status: 400 },
  ...{ headers: new Headers(), body: undefined },
});

const events = ["a", "b", "c"].map((id) => ({ id, name: "x", contact: { email: "ada@example.com" } }));

/** A client whose service never answers, and a signal that aborts with the failure of another call once it is asked. */
const scene = () => {
  const abort = new AbortController();
  const fetch = (_url: unknown, { signal }: RequestInit = {}): Promise<Response> =>
    new Promise((_resolve, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason));
      setImmediate(() => abort.abort(reason));
    });
  const client = new Client({ apiKey: "key", baseUrl: "http://localhost", fetch, limits: false });
  return { client, signal: abort.signal };
};

test("an abort with another call's refusal rejects none of an ingestion's events", async () => {
  const { client, signal } = scene();
  const rejected: RejectedEvent[] = [];
  const saved: unknown[] = [];
  const run = client.events.ingest(events, {
    signal,
    checkpoint: { load: async () => undefined, save: async (state) => void saved.push(state) },
    onRejected: (one) => void rejected.push(one),
  });
  await expect(run).rejects.toMatchObject({
    message: "of another call",
    partial: { report: { unknown: 3 } },
  });
  expect([rejected, saved]).toEqual([[], []]);
});

test("recordBatch that is aborted with the refusal of another call throws that", async () => {
  const { client, signal } = scene();
  await expect(client.events.recordBatch(events, { signal })).rejects.toMatchObject({
    message: "of another call",
    partial: { results: [], left: events },
  });
});
