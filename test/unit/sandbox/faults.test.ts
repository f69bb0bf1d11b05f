import { describe, expect, test } from "vitest";
import type { Fault, FaultName } from "../../../src/sandbox/index.ts";
import { open, send } from "./client.ts";

const ada = { email: "ada@example.com" };
const url = "https://service.test/api/v1/contacts";
const init = {
  method: "POST",
  headers: { authorization: "Bearer sandbox-key", "content-type": "application/json" },
  body: JSON.stringify(ada),
};

const meet = (fault: Fault, init_: RequestInit = {}) => {
  const { sandbox } = open();
  sandbox.fail({ with: fault });
  return { sandbox, answer: sandbox.fetch(url, { ...init, ...init_ }) };
};

/** The class, code and message of what a promise rejects with. */
const failure = async (promise: Promise<unknown>) => {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Error)) return error;
  // A reset carries a system error below.
  const cause = error.cause as { code?: string } | undefined;
  return [error.name, error.message, cause?.code];
};

describe("in process", () => {
  test.each([
    ["reset-before", 0],
    ["reset-after-apply", 1],
  ] as const)("%s rejects as a broken connection, with %i contacts made", async (name, made) => {
    const { sandbox, answer } = meet(name);
    expect(await failure(answer)).toEqual(["TypeError", "fetch failed", "ECONNRESET"]);
    expect(sandbox.state.contacts).toHaveLength(made);
    expect(sandbox.state.requests).toMatchObject([{ status: undefined, applied: made === 1, fault: name }]);
  });

  test.each([
    ["stall", 0],
    ["stall-after-apply", 1],
  ] as const)("%s never answers until it is aborted, with %i contacts made", async (name, made) => {
    const abort = new AbortController();
    const { sandbox, answer } = meet(name, { signal: abort.signal });
    sandbox.advance(86_400_000);
    const reason = new Error("enough");
    abort.abort(reason);
    await expect(answer).rejects.toBe(reason);
    expect(sandbox.state.contacts).toHaveLength(made);
  });

  test("a delay applies the request at once, and answers as usual later", async () => {
    const { sandbox, answer } = meet({ delayMs: 300 });
    let hasAnswered = false;
    answer.then(() => {
      hasAnswered = true;
    });
    await new Promise(setImmediate);
    sandbox.advance(299);
    await new Promise(setImmediate);
    expect([sandbox.state.contacts.length, hasAnswered]).toEqual([1, false]);
    sandbox.advance(1);
    expect((await answer).status).toBe(201);
    expect(sandbox.state.requests).toMatchObject([{ status: 201, applied: true, fault: "delay" }]);
  });

  test("truncate breaks the body off in the middle", async () => {
    const { answer } = meet("truncate");
    const response = await answer;
    expect(response.status).toBe(201);
    expect(await failure(response.text())).toEqual(["TypeError", "terminated", "ECONNRESET"]);
  });

  const bodies: [FaultName, number, number, string | null, RegExp][] = [
    ["garbage", 1, 201, "application/json; charset=utf-8", /<<<$/],
    ["html-502", 0, 502, "text/html", /^<html>/],
    ["missing-fields", 1, 201, "application/json; charset=utf-8", /^\{"id":"[^"]+"\}$/],
  ];
  test.each(bodies)("%s: %i contacts made, status %i, type %s", async (name, made, status, type, body) => {
    const { sandbox, answer } = meet(name);
    const response = await answer;
    expect([response.status, response.headers.get("content-type")]).toEqual([status, type]);
    expect(await response.text()).toMatch(body);
    expect(sandbox.state.contacts).toHaveLength(made);
  });

  test("records of a page and results of a batch are distorted one by one", async () => {
    const { sandbox, call } = open();
    sandbox.seedContacts(2);
    sandbox.fail({ with: "missing-fields", times: 2 });
    const page = await call("GET", "/api/v1/contacts");
    const ids = sandbox.state.contacts.map(({ id }) => ({ id }));
    expect(page.body).toEqual({ data: ids, total: 2, skip: 0, limit: 50 });
    const events = [{ name: "x", contact: ada }];
    const batch = await call("POST", "/api/v1/events/batch", { events });
    expect(batch.body).toEqual({ accepted: 1, rejected: 0, results: [{ status: 202 }] });
  });
});

describe("made-up statuses", () => {
  test.each([
    [2, "2"],
    ["1.5", "1.5"],
    ["soon", "soon"],
  ])("retryAfter %j goes out as %j", async (retryAfter, text) => {
    const { sandbox, answer } = meet({ status: 503, retryAfter });
    const response = await answer;
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, text]);
    expect(await response.json()).toEqual({ error: "Planned fault: status 503." });
    expect(sandbox.state.contacts).toEqual([]);
    expect(sandbox.state.requests).toMatchObject([{ status: 503, applied: false, fault: "status-503" }]);
  });

  test("one can be applied nevertheless, with its own body and headers", async () => {
    const fault = { status: 500, applied: true, body: "oops", headers: { "content-type": "text/plain" } };
    const { sandbox, answer } = meet(fault);
    const response = await answer;
    expect([response.status, await response.text(), response.headers.get("content-type")]).toEqual([
      500,
      "oops",
      "text/plain",
    ]);
    expect(sandbox.state.contacts).toHaveLength(1);
    expect(sandbox.state.requests).toMatchObject([{ applied: true }]);
  });

  test("a header of its own takes the place of one that is there, in any case", async () => {
    const headers = { "Content-Type": "text/html", "RETRY-AFTER": "7", Date: "soon" };
    const { answer } = meet({ status: 503, retryAfter: 1, headers });
    const sent = (await answer).headers;
    expect(["content-type", "retry-after", "date"].map((name) => sent.get(name))).toEqual([
      "text/html",
      "7",
      "soon",
    ]);
  });

  test.each([204, 205, 304])("a planned %i has no body", async (status) => {
    const { answer } = meet({ status, body: "left out" });
    expect([(await answer).status, await (await answer).text()]).toEqual([status, ""]);
  });

  test("a redirect has the given location", async () => {
    const { headers, status } = await meet({ status: 301, headers: { location: "https://evil.example/" } })
      .answer;
    expect([status, headers.get("location")]).toEqual([301, "https://evil.example/"]);
  });

  test("items of a batch fail inside the 207", async () => {
    const { sandbox, call } = open();
    sandbox.fail({ operation: "events.recordBatch", with: { items: [1], status: 503 } });
    const events = ["a", "b", "c"].map((id) => ({ id, name: "x", contact: ada }));
    const { body } = await call("POST", "/api/v1/events/batch", { events });
    expect(body).toMatchObject({
      accepted: 2,
      rejected: 1,
      results: [{ status: 202 }, { status: 503, error: "Planned fault: this item failed." }, { status: 202 }],
    });
    expect(sandbox.state.events.map(({ callerId }) => callerId)).toEqual(["a", "c"]);
  });
});

describe("which request a fault meets", () => {
  const statuses = async (count: number, { sandbox }: ReturnType<typeof open>, path = "/api/v1/contacts") => {
    const seen: number[] = [];
    for (let n = 0; n < count; n += 1) seen.push((await send(sandbox, "GET", path)).status);
    return seen;
  };

  test("the next one of any kind, once, when nothing else is said", async () => {
    const opened = open();
    const planned = opened.sandbox.fail({ with: { status: 500 } });
    expect(await statuses(3, opened)).toEqual([500, 200, 200]);
    expect(planned.hits).toBe(1);
  });

  test("the nth of an operation, for a number of times", async () => {
    const opened = open();
    opened.sandbox.fail({ operation: "contacts.list", nth: 2, times: 2, with: { status: 500 } });
    expect(await statuses(2, opened, "/api/v1/emails/scheduled")).toEqual([200, 200]);
    expect(await statuses(5, opened)).toEqual([200, 500, 500, 200, 200]);
  });

  test("until it is taken back", async () => {
    const opened = open();
    const planned = opened.sandbox.fail({ times: Number.POSITIVE_INFINITY, with: { status: 500 } });
    expect(await statuses(2, opened)).toEqual([500, 500]);
    planned.remove();
    expect(await statuses(1, opened)).toEqual([200]);
  });

  test("the older of two plans", async () => {
    const opened = open();
    opened.sandbox.fail({ with: { status: 500 } });
    opened.sandbox.fail({ times: 2, with: { status: 503 } });
    expect(await statuses(3, opened)).toEqual([500, 503, 200]);
  });

  test("a share of them at random, the same for the same seed", async () => {
    const run = async (seed: number) => {
      const opened = open({ seed });
      opened.sandbox.fail({ times: 100, chance: 0.3, with: { status: 500 } });
      return statuses(100, opened);
    };
    const first = await run(3);
    expect(await run(3)).toEqual(first);
    expect(await run(4)).not.toEqual(first);
    expect(first.filter((status) => status === 500)).toHaveLength(30);
  });

  test("sending and scheduling are told apart", async () => {
    const { sandbox, call } = open();
    sandbox.fail({ operation: "emails.schedule", with: { status: 500 } });
    const email = { to: ada.email, subject: "Hi", text: "Hello" };
    expect((await call("POST", "/api/v1/emails", email)).status).toBe(200);
    expect((await call("POST", "/api/v1/emails", { ...email, sendAt: "2026-03-02T00:00:00Z" })).status).toBe(
      500,
    );
  });

  test("a request refused by the rules was not applied", async () => {
    const { sandbox, call } = open();
    sandbox.fail({ with: "reset-after-apply" });
    await expect(call("POST", "/api/v1/contacts", {})).rejects.toThrow("fetch failed");
    expect(sandbox.state.requests).toMatchObject([{ applied: false }]);
  });
});
