import { describe, expect, test } from "vitest";
import { type ClientOptions, type EmailInput, memoryLedger } from "../../src/index.ts";
import { FakeClock, turn } from "../support/fake-clock.ts";
import { type Served, served } from "../unit/resources/served.ts";

const email: EmailInput = { to: "ada@example.com", subject: "Welcome", text: "Hello" };
const other: EmailInput = { ...email, to: "bob@example.com" };
const once = { once: "welcome:42" };
const receipt = { id: "m-1" };
const sent: Served = [200, receipt];
const limits = { emails: { max: 1, windowMs: 60_000 } };

/** A store that several processes share, by its own clock, and what each asked of it. */
const store = () => {
  const clock = new FakeClock();
  const { claim, settle, ...rest } = memoryLedger(clock);
  const log: string[] = [];
  /** The ledger as one process has it. */
  const process = (name = "") => ({
    ...rest,
    claim: async (...given: Parameters<typeof claim>) => {
      log.push(`${name}claim`);
      return claim(...given);
    },
    settle: async (...given: Parameters<typeof settle>) => {
      log.push(`${name}${given[1]}`);
      return settle(...given);
    },
  });
  return { clock, log, process };
};

const settled = async (turns = 30): Promise<void> => {
  for (let at = 0; at < turns; at += 1) await turn();
};

const never: Served = () => new Promise(() => undefined);

describe("a call that waits for a limit", () => {
  /** A process that has used up its limit for a minute, and has one email to send under the key. */
  const waiting = async (shared: ReturnType<typeof store>, name: string, script: readonly Served[]) => {
    const made = served([[200, {}], ...script], { limits, ledger: shared.process(name) });
    await made.client.emails.send(other);
    return made;
  };

  test("takes no key: another process sends, and the one that waited gets its receipt", async () => {
    const shared = store();
    const a = await waiting(shared, "a ", []);
    const first = a.client.emails.send(email, once);
    await settled();
    expect(shared.log).toEqual([]);
    const b = served([sent], { ledger: shared.process("b ") });
    expect(await b.client.emails.send(email, once)).toEqual(receipt);
    expect(await a.clock.until(first)).toEqual(receipt);
    expect(shared.log).toEqual(["b claim", "b sent", "a claim"]);
    expect(a.requests).toHaveLength(1);
  });

  test("is refused if the outcome of the other email is unknown, and returns its permit", async () => {
    const shared = store();
    const a = await waiting(shared, "a ", [sent]);
    const first = a.client.emails.send(email, once);
    await settled();
    const b = served([new Error("socket hang up")], { ledger: shared.process("b ") });
    await expect(b.client.emails.send(email, once)).rejects.toMatchObject({ outcome: "unknown" });
    await expect(a.clock.until(first)).rejects.toMatchObject({ code: "once_unknown", attempts: 0 });
    expect(await a.client.emails.send(other)).toEqual(receipt);
  });

  test("does not hold up a call whose email was sent, or whose key refuses it", async () => {
    const shared = store();
    const ledger = shared.process();
    await served([sent], { ledger }).client.emails.send(email, once);
    await served([new Error("lost")], { ledger })
      .client.emails.send(email, { once: "unknown" })
      .catch(() => undefined);
    void served([never], { ledger }).client.emails.send(email, { once: "pending" });
    await settled();
    const { client } = await waiting(shared, "", []);
    expect(await client.emails.send(email, once)).toEqual(receipt);
    const refused = ["unknown", "pending"].map((key) => client.emails.send(email, { once: key }));
    expect(await Promise.allSettled([...refused, client.emails.send(other, once)])).toMatchObject([
      { reason: { code: "once_unknown", outcome: "unknown" } },
      { reason: { code: "once_pending", outcome: "unknown", key: "pending" } },
      { reason: { code: "once_mismatch", outcome: "not-applied", differs: ["to"] } },
    ]);
  });
});

test("a second process gets once_pending during the attempt and once_unknown after its timeout", async () => {
  const shared = store();
  const a = served([never], { ledger: shared.process(), timeoutMs: 5_000 });
  void a.client.emails.send(email, once);
  await settled();
  const since = shared.clock.wallTime();
  const b = served([], { ledger: shared.process() });
  await shared.clock.advance(4_999);
  const early = b.client.emails.send(email, once);
  await expect(early).rejects.toMatchObject({ code: "once_pending", outcome: "unknown", since });
  await expect(early).rejects.toThrow("is sending the email now. This call sent nothing");
  await shared.clock.advance(1);
  await expect(b.client.emails.send(email, once)).rejects.toMatchObject({ code: "once_unknown", since });
});

const refusals: readonly [string, Served, ClientOptions][] = [
  ["a 429", [429, { error: "Too many." }], {}],
  ["a 401 of a key that is renewed", [401, { error: "Expired." }], { apiKey: () => "another" }],
];

test.each(refusals)(
  "after %s the key is free before the wait, and is claimed again",
  async (_what, first, options) => {
    const shared = store();
    const { client, clock, requests } = served([first, sent], { ledger: shared.process(), ...options });
    const sending = client.emails.send(email, once);
    await settled();
    expect(shared.log.slice(0, 2)).toEqual(["claim", "not-sent"]);
    expect(await clock.until(sending)).toEqual(receipt);
    expect(shared.log).toEqual(["claim", "not-sent", "claim", "sent"]);
    expect(requests).toHaveLength(2);
  },
);

test("an attempt after a 429 gives way to the process that sent meanwhile", async () => {
  const shared = store();
  const a = served([[429, { error: "Too many." }]], { ledger: shared.process() });
  const first = a.client.emails.send(email, once);
  await settled();
  const b = served([sent], { ledger: shared.process() });
  expect(await b.client.emails.send(email, once)).toEqual(receipt);
  expect(await a.clock.until(first)).toEqual(receipt);
  expect(a.requests).toHaveLength(1);
});

test("if the API key function fails, nothing is sent and no once key is claimed", async () => {
  const shared = store();
  const apiKey = () => Promise.reject(new Error("no vault"));
  const { client } = served([], { ledger: shared.process(), apiKey });
  await expect(client.emails.send(email, once)).rejects.toMatchObject({ outcome: "not-applied" });
  expect(shared.log).toEqual([]);
});

test("a release that failed is repeated before the next claim", async () => {
  const shared = store();
  const ledger = shared.process();
  const { settle } = ledger;
  let failures = 1;
  ledger.settle = async (...given) => {
    if (failures > 0) {
      failures -= 1;
      throw new Error("disk full");
    }
    return settle(...given);
  };
  const { client, clock } = served([[429, { error: "Too many." }], sent], { ledger });
  expect(await clock.until(client.emails.send(email, once))).toEqual(receipt);
  expect(shared.log).toEqual(["claim", "not-sent", "claim", "sent"]);
});

test("a call ends after timeoutMs when the ledger does not respond, and returns a late claim", async () => {
  const shared = store();
  const ledger = shared.process();
  const { claim } = ledger;
  let answer = (): void => undefined;
  ledger.claim = async (...given) => {
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    return claim(...given);
  };
  const { client, clock, requests } = served([], { ledger, timeoutMs: 1_000 });
  const sending = client.emails.send(email, once);
  const late = expect(sending).rejects.toMatchObject({
    ...{ code: "connection_failed", outcome: "not-applied", attempts: 0 },
    message: "emails.send: the ledger did not respond within timeoutMs, 1000 ms. Nothing was sent.",
  });
  await settled();
  await clock.advance(1_000);
  await late;
  answer();
  await settled();
  expect([shared.log, requests]).toEqual([["claim", "not-sent"], []]);
});
