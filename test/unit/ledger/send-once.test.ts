import { describe, expect, test } from "vitest";
import {
  type ClaimLedger,
  type Client,
  type EmailInput,
  type Ledger,
  memoryLedger,
  type ScheduledEmailInput,
  SendOnceError,
  type SendOptions,
  ValidationError,
} from "../../../src/index.ts";
import { turn } from "../../support/fake-clock.ts";
import { type Served, served } from "../resources/served.ts";

const email: EmailInput = { to: "ada@example.com", subject: "Welcome", text: "Hello" };
const other: EmailInput = { ...email, text: "Hello again" };
const once: SendOptions = { once: "welcome:42" };
const receipt = { id: "m-1", to: "ada@example.com", subject: "Welcome" };
const lost = new Error("socket hang up");
const sent: Served = [200, receipt];

/** An answer that comes when the test says so. */
const held = () => {
  let answer = (_response: Response): void => undefined;
  const response = new Promise<Response>((resolve) => {
    answer = resolve;
  });
  return { step: () => response, answer: () => answer(new Response(JSON.stringify(receipt))) };
};

/** A ledger that keeps what is asked of it, and may fail or never answer. */
const watched = (over: Partial<Ledger> = {}) => {
  const inner = { ...memoryLedger(), ...over };
  const log: string[] = [];
  const ledger: ClaimLedger = {
    claim: (key, fingerprint) => {
      log.push("claim");
      return inner.claim(key, fingerprint);
    },
    settle: (key, settlement, details) => {
      log.push(settlement);
      return inner.settle(key, settlement, details);
    },
  };
  return { ledger, log };
};

const never = <T>(): Promise<T> => new Promise(() => undefined);

test("a second call with the key returns the first receipt, and sends nothing", async () => {
  const { client, requests } = served([sent]);
  expect(await client.emails.send(email, once)).toEqual(receipt);
  const second = await client.emails.send(email, once).withResponse();
  expect([second.data, second.response.attempts]).toEqual([receipt, 0]);
  expect(requests).toHaveLength(1);
});

test("a receipt that repeats the API key is stored without it", async () => {
  const ledger = memoryLedger();
  const echo = { ...receipt, note: "sent by secret-key-1", seen: [{ "secret-key-1": 1 }] };
  const { client } = served([[200, echo]], { ledger, apiKey: "secret-key-1" });
  expect(await client.emails.send(email, once)).toEqual(echo);
  const stored = { ...receipt, note: "sent by [redacted]", seen: [{ "[redacted]": 1 }] };
  expect((await ledger.get("welcome:42"))?.receipt).toEqual(stored);
});

test("a receipt that a caller changes stays as it was for the next", async () => {
  const { client } = served([sent]);
  for (let call = 0; call < 3; call += 1) {
    const answer = await client.emails.send(email, once);
    expect(answer.id).toBe("m-1");
    answer.id = "changed";
  }
});

describe("an answer nested 100,000 levels deep", () => {
  const brackets = 100_000;
  const text = `{"id":"m-1","to":"ada@example.com","more":${"[".repeat(brackets)}${"]".repeat(brackets)}}`;
  const deep: Served = async () => new Response(text);
  const sendAt = "2026-03-02T07:00:00.000Z";
  const calls = {
    send: (client: Client) => client.emails.send(email, once),
    schedule: (client: Client) => client.emails.schedule({ ...email, sendAt }, once),
  };

  test.each(Object.entries(calls))("settles the key of `%s` with what is at its top", async (_name, run) => {
    const ledger = memoryLedger();
    const { client, requests } = served([deep], { ledger });
    expect((await run(client)).id).toBe("m-1");
    expect(await run(client)).toMatchObject({ id: "m-1", to: "ada@example.com" });
    expect(requests).toHaveLength(1);
  });

  test("is handed over with its top where another program kept it whole", async () => {
    const ledger = memoryLedger();
    const { client } = served([sent], { ledger });
    await client.emails.send(email, once);
    const { read } = ledger;
    ledger.read = async (key) => {
      const known = await read(key);
      return known && { ...known, receipt: JSON.parse(text) };
    };
    expect(await client.emails.send(email, once)).toEqual({ id: "m-1", to: "ada@example.com" });
  });
});

test("an answer of more than 64 KiB settles its key with the fields that are short", async () => {
  const { client } = served([[200, { ...receipt, html: "x".repeat(70_000) }]]);
  await client.emails.send(email, once);
  expect(await client.emails.send(email, once)).toEqual(receipt);
});

test("a scheduled email is sent once too, whichever way its moment is written", async () => {
  const kept = { id: "se-1", status: "SCHEDULED" };
  const { client, requests } = served([[201, { scheduled: true, email: kept }]]);
  await client.emails.schedule({ ...email, sendAt: "2026-03-02T09:00:00+02:00" }, once);
  const sendAt = new Date("2026-03-02T07:00:00Z");
  expect(await client.emails.schedule({ ...email, sendAt }, once)).toMatchObject(kept);
  expect(requests).toHaveLength(1);
});

test("emails with other keys, or without a key, are sent as usual", async () => {
  const { client, requests } = served([sent, sent, sent]);
  await client.emails.send(email, once);
  await client.emails.send(email, { once: "welcome:43" });
  await client.emails.send(email);
  expect(requests).toHaveLength(3);
});

test("the key is in the ledger before anything leaves, and settled before the answer", async () => {
  const { ledger, log } = watched();
  const send: Served = async () => {
    log.push("request");
    return new Response(JSON.stringify(receipt));
  };
  const { client } = served([send], { ledger });
  await client.emails.send(email, once);
  expect(log).toEqual(["claim", "request", "sent"]);
});

test("siblings share the ledger, other clients do not", async () => {
  const { client } = served([sent]);
  await client.emails.send(email, once);
  expect(await client.withOptions({ maxRetries: 0 }).emails.send(email, once)).toEqual(receipt);
  const stranger = served([sent]);
  await stranger.client.emails.send(email, once);
  expect(stranger.requests).toHaveLength(1);
});

test("the same key with a different email is refused", async () => {
  const { client, requests } = served([sent]);
  await client.emails.send(email, once);
  const again = client.emails.send(other, once);
  await expect(again).rejects.toThrow(SendOnceError);
  await expect(again).rejects.toThrow(
    'emails.send: "welcome:42" belongs to a different email (differs in text). Nothing was sent.',
  );
  await expect(again).rejects.toMatchObject({
    ...{ code: "once_mismatch", outcome: "not-applied", attempts: 0 },
    ...{ key: "welcome:42", since: expect.any(Number), differs: ["text"] },
  });
  const { text: _, ...rest } = email;
  await expect(
    client.emails.schedule({ ...rest, html: "<p>", sendAt: new Date(0) } as ScheduledEmailInput, once),
  ).rejects.toMatchObject({ differs: ["text", "html", "sendAt"] });
  expect(requests).toHaveLength(1);
});

test("the order of an email's fields makes no other email of it", async () => {
  const { client } = served([sent]);
  await client.emails.send(email, once);
  const { to, ...rest } = email;
  expect(await client.emails.send({ ...rest, to }, once)).toEqual(receipt);
});

test("calls with one key at once send once, and both get the answer", async () => {
  const { client, requests } = served([sent]);
  const both = await Promise.all([client.emails.send(email, once), client.emails.send(email, once)]);
  expect(both).toEqual([receipt, receipt]);
  expect(requests).toHaveLength(1);
});

test("of two different emails with one key at once, the second is refused", async () => {
  const { client } = served([sent]);
  const [first, second] = await Promise.allSettled([
    client.emails.send(email, once),
    client.emails.send(other, once),
  ]);
  expect([first.status, second.status]).toEqual(["fulfilled", "rejected"]);
});

test("calls at once share a refusal, and the next call tries again", async () => {
  const { client, requests } = served([[400, { error: "No." }], sent]);
  const both = await Promise.allSettled([client.emails.send(email, once), client.emails.send(email, once)]);
  expect(both).toMatchObject([{ reason: { status: 400 } }, { reason: { status: 400 } }]);
  expect(await client.emails.send(email, once)).toEqual(receipt);
  expect(requests).toHaveLength(2);
});

const harmless: readonly [string, Served][] = [
  ["400", [400, { error: "On the do-not-email list." }]],
  ["404", [404, { error: "No such signature." }]],
  ["429", [429, { error: "Too many." }]],
  ["the mail account's 502", [502, { error: "The mailbox is full." }]],
];

test.each(harmless)("after %s the key is free again", async (_what, answer) => {
  const { client, clock } = served([answer, sent], { maxRetries: 0 });
  await expect(client.emails.send(email, once)).rejects.toMatchObject({ outcome: "not-applied" });
  expect(await clock.until(client.emails.send(other, once))).toEqual(receipt);
});

const unclear: readonly [string, Served][] = [
  ["a lost connection", lost],
  // A fetch of the caller's own may have sent it before.
  ["a refusal that a given fetch tells of", Object.assign(new Error("refused"), { code: "ECONNREFUSED" })],
  ["500", [500, { error: "Oops." }]],
  ["503", [503, { error: "Busy." }]],
  ["a proxy's 502", async () => new Response("<html>", { status: 502 })],
  ["an answer that breaks off", async () => new Response('{"id":"m-')],
];

test.each(unclear)("after %s the key is refused until it is settled", async (_what, answer) => {
  const ledger = memoryLedger();
  const { client, requests } = served([answer, sent], { ledger });
  await expect(client.emails.send(email, once)).rejects.toMatchObject({ outcome: "unknown" });
  const again = client.emails.send(email, once);
  await expect(again).rejects.toThrow(SendOnceError);
  await expect(again).rejects.toMatchObject({
    ...{ code: "once_unknown", outcome: "unknown", attempts: 0, operation: "emails.send" },
    ...{ key: "welcome:42", since: expect.any(Number), differs: [] },
  });
  await expect(again).rejects.toThrow(
    'ledger.settle("welcome:42", "sent") or ledger.settle("welcome:42", "not-sent")',
  );
  expect(requests).toHaveLength(1);
  await ledger.settle("welcome:42", "not-sent");
  expect(await client.emails.send(email, once)).toEqual(receipt);
});

test("a key that a person settled as sent returns the given receipt, or one without an id", async () => {
  const ledger = memoryLedger();
  const { client } = served([lost, lost, lost], { ledger });
  const sendAt = "2026-03-02T07:00:00.000Z";
  for (const key of ["a", "b"]) await client.emails.send(email, { once: key }).catch(() => undefined);
  await client.emails.schedule({ ...email, sendAt }, { once: "c" }).catch(() => undefined);
  await ledger.settle("a", "sent", { receipt });
  await ledger.settle("b", "sent");
  await ledger.settle("c", "sent");
  expect(await client.emails.send(email, { once: "a" })).toEqual(receipt);
  expect(await client.emails.send(email, { once: "b" })).toEqual({
    id: "",
    to: email.to,
    subject: email.subject,
    ...{ cc: [], from: "", sentAt: "", tracked: false, contactId: "", contactCreated: false },
  });
  expect(await client.emails.schedule({ ...email, sendAt }, { once: "c" })).toEqual({
    id: "",
    status: "SCHEDULED",
    sendAt,
  });
});

test("an abort while the email is under way leaves the key unknown", async () => {
  const { client } = served([() => never()]);
  const stop = new AbortController();
  const sending = client.emails.send(email, { ...once, signal: stop.signal });
  const reason = expect(sending).rejects.toBe("enough");
  for (let at = 0; at < 20; at += 1) await turn();
  stop.abort("enough");
  await reason;
  await expect(client.emails.send(email, once)).rejects.toMatchObject({ outcome: "unknown", attempts: 0 });
});

test("an abort before anything left gives the key back", async () => {
  const limits = { emails: { max: 1, windowMs: 60_000 } };
  const { client, clock } = served([sent, sent], { limits });
  await client.emails.send(other);
  const stop = new AbortController();
  const waiting = client.emails.send(email, { ...once, signal: stop.signal });
  const reason = expect(waiting).rejects.toBe("enough");
  for (let at = 0; at < 20; at += 1) await turn();
  stop.abort("enough");
  await reason;
  expect(await clock.until(client.emails.send(email, once))).toEqual(receipt);
});

test("a call that was aborted beforehand takes no key", async () => {
  const { ledger, log } = watched();
  const { client } = served([], { ledger });
  const options = { ...once, signal: AbortSignal.abort("enough") };
  await expect(client.emails.send(email, options)).rejects.toBe("enough");
  expect(log).toEqual([]);
});

test("the one that waits for another call can be aborted alone", async () => {
  const answer = held();
  const { client } = served([answer.step]);
  const first = client.emails.send(email, once);
  const stop = new AbortController();
  const second = client.emails.send(email, { ...once, signal: stop.signal });
  const reason = expect(second).rejects.toBe("enough");
  await turn();
  stop.abort("enough");
  await reason;
  answer.answer();
  expect(await first).toEqual(receipt);
});

test("when the first caller aborts, the one that waits goes to the ledger itself", async () => {
  const { client } = served([() => never()]);
  const stop = new AbortController();
  const first = client.emails.send(email, { ...once, signal: stop.signal });
  const second = client.emails.send(email, once);
  const both = Promise.allSettled([first, second]);
  for (let at = 0; at < 20; at += 1) await turn();
  stop.abort("enough");
  expect(await both).toMatchObject([
    { reason: "enough" },
    { reason: { code: "once_unknown", outcome: "unknown" } },
  ]);
});

test("the one that waits does not wait beyond its total time", async () => {
  const answer = held();
  const { client, clock } = served([answer.step]);
  const first = client.emails.send(email, once);
  const second = client.emails.send(email, { ...once, totalTimeoutMs: 1_000 });
  const late = expect(second).rejects.toMatchObject({ name: "TimeoutError", outcome: "unknown" });
  await clock.advance(1_000);
  await late;
  answer.answer();
  expect(await first).toEqual(receipt);
});

test("a call ends at its total timeout when the ledger does not respond, and returns a late claim", async () => {
  const claims: ((claim: { state: "claimed"; claim: string }) => void)[] = [];
  const { ledger, log } = watched({ claim: () => new Promise((resolve) => claims.push(resolve)) });
  const { client, clock, requests } = served([], { ledger, totalTimeoutMs: 1_000 });
  const sending = client.emails.send(email, once);
  const late = expect(sending).rejects.toMatchObject({ name: "TimeoutError", outcome: "not-applied" });
  await clock.advance(1_000);
  await late;
  claims[0]?.({ state: "claimed", claim: "c" });
  await turn();
  expect([log, requests]).toEqual([["claim", "not-sent"], []]);
});

test("a ledger that fails keeps the email back", async () => {
  const { ledger } = watched({ claim: () => Promise.reject(new Error("no route to the ledger")) });
  const { client, requests } = served([], { ledger });
  await expect(client.emails.send(email, once)).rejects.toMatchObject({
    name: "ConnectionError",
    outcome: "not-applied",
    message: "emails.send: the ledger failed (no route to the ledger). Nothing was sent.",
  });
  expect(requests).toEqual([]);
});

test("a ledger that cannot note the end does not hide that the email was sent", async () => {
  const { ledger } = watched({ settle: () => Promise.reject(new Error("disk full")) });
  const { client, requests } = served([sent], { ledger });
  expect(await client.emails.send(email, once)).toEqual(receipt);
  await expect(client.emails.send(email, once)).rejects.toMatchObject({ outcome: "unknown" });
  expect(requests).toHaveLength(1);
});

const noKeys = ["", "  ", 7, null, "\ud800"];

test.each(noKeys)("%j is no key", async (key) => {
  const { client, requests } = served([]);
  const got = typeof key === "string" ? JSON.stringify(key) : String(key);
  await expect(client.emails.send(email, { once: key as string })).rejects.toMatchObject({
    code: "input_invalid",
    message: `emails.send: once must be a text of at most 512 characters that is not blank, got ${got}`,
  });
  expect(requests).toEqual([]);
});

test("a key that is too long is shortened in its error", async () => {
  const { client, requests } = served([]);
  await expect(client.emails.send(email, { once: "x".repeat(513) })).rejects.toMatchObject({
    code: "input_invalid",
    message: `emails.send: once must be a text of at most 512 characters that is not blank, got "${"x".repeat(100)}"… (513 characters)`,
  });
  expect(requests).toEqual([]);
});

test.each(["x", "x".repeat(512)])("%j is a key", async (key) => {
  const { client } = served([sent]);
  expect(await client.emails.send(email, { once: key })).toEqual(receipt);
});

test("an email that does not fit takes no key", async () => {
  const { ledger, log } = watched();
  const { client } = served([], { ledger });
  await expect(client.emails.send({ ...email, to: "nobody" }, once)).rejects.toThrow(
    "emails.send: to: must be",
  );
  expect(log).toEqual([]);
});

test("an email that is no JSON takes no key", async () => {
  const { ledger, log } = watched();
  const { client } = served([], { ledger });
  const loop: Record<string, unknown> = {};
  loop.self = loop;
  await expect(client.emails.send({ ...email, loop } as EmailInput, once)).rejects.toThrow(ValidationError);
  expect(log).toEqual([]);
});

test("a client refuses a ledger that is none", () => {
  expect(() => served([], { ledger: {} as Ledger })).toThrow(
    "ledger must be memoryLedger(), fileLedger(path)",
  );
  expect(() => served([], { ledger: null as unknown as Ledger })).toThrow("ledger must be");
});
