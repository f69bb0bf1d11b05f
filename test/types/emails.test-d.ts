import { expectTypeOf, test } from "vitest";
import type {
  Client,
  ClientOptions,
  DryRunRequest,
  EmailInput,
  MomentInput,
  ScheduledEmail,
  ScheduledEmailUpdated,
  SentEmail,
} from "../../src/index.ts";

declare const client: Client;
const head = { to: "ada@example.com", subject: "Welcome" };

test("an email carries html or text, and not both", () => {
  client.emails.send({ ...head, html: "<p>Hello</p>" });
  client.emails.send({ ...head, text: "Hello" });
  // @ts-expect-error neither
  client.emails.send(head);
  // @ts-expect-error both
  client.emails.send({ ...head, html: "<p>Hello</p>", text: "Hello" });
  // @ts-expect-error no such field
  client.emails.send({ ...head, text: "Hello", subjet: "x" });
});

test("send takes no sendAt, schedule needs one", () => {
  // @ts-expect-error for emails.schedule
  client.emails.send({ ...head, text: "Hello", sendAt: new Date() });
  // @ts-expect-error missing
  client.emails.schedule({ ...head, text: "Hello" });
  client.emails.schedule({ ...head, text: "Hello", sendAt: "2026-03-02T09:00:00Z" });
  expectTypeOf(client.emails.schedule).parameter(0).toHaveProperty("sendAt").toEqualTypeOf<MomentInput>();
});

test("each method answers its own record", () => {
  const email: EmailInput = { ...head, text: "Hello" };
  expectTypeOf(client.emails.send(email, { once: "k" })).resolves.toEqualTypeOf<SentEmail>();
  expectTypeOf(client.emails.scheduled.update("id", {})).resolves.toEqualTypeOf<ScheduledEmailUpdated>();
  expectTypeOf(client.emails.scheduled.cancel("id")).resolves.toEqualTypeOf<void>();
  expectTypeOf(client.emails.scheduled.list().toArray()).resolves.toEqualTypeOf<ScheduledEmail[]>();
});

test("scheduled emails are listed, changed and called off", () => {
  const { scheduled } = client.emails;
  scheduled.list({ skip: 10, limit: 5 }, { prefetch: 1 });
  scheduled.update("id", { sendAt: new Date(), subject: "Later" });
  // @ts-expect-error nothing to search by
  scheduled.list({ search: "ada@example.com" });
  // @ts-expect-error a number
  scheduled.list({ limit: "5" });
  // @ts-expect-error the id comes first
  scheduled.update({ subject: "Later" }, "id");
  // @ts-expect-error what changes is given
  scheduled.update("id");
  // @ts-expect-error a time is no number
  scheduled.update("id", { sendAt: 1_700_000_000 });
  // @ts-expect-error an email has a subject
  scheduled.update("id", { subject: null });
  // @ts-expect-error a change sends nothing
  scheduled.update("id", {}, { once: "key" });
  // @ts-expect-error which one?
  scheduled.cancel();
  // @ts-expect-error its id
  scheduled.cancel({ id: "id" });
});

test("the key of an email belongs into the options", () => {
  client.emails.schedule({ ...head, text: "Hello", sendAt: new Date() }, { once: "key", timeoutMs: 1 });
  // @ts-expect-error for the options
  client.emails.send({ ...head, text: "Hello", once: "key" });
  // @ts-expect-error for the options
  client.emails.schedule({ ...head, text: "Hello", sendAt: new Date(), once: "key" });
  // @ts-expect-error a string
  client.emails.send({ ...head, text: "Hello" }, { once: 1 });
  // @ts-expect-error no such option
  client.emails.schedule({ ...head, text: "Hello", sendAt: new Date() }, { key: "key" });
});

test("a dry run answers an email, with the request that would be sent", () => {
  const email = { ...head, text: "Hello" };
  const later = { ...email, sendAt: new Date() };
  expectTypeOf(client.emails.send(email, { dryRun: true })).resolves.toEqualTypeOf<SentEmail>();
  expectTypeOf(client.emails.schedule(later, { dryRun: true })).resolves.toEqualTypeOf<ScheduledEmail>();
  expectTypeOf<SentEmail["request"]>().toEqualTypeOf<DryRunRequest | undefined>();
  expectTypeOf<ScheduledEmail["request"]>().toEqualTypeOf<DryRunRequest | undefined>();
  // @ts-expect-error true or false
  client.emails.send(email, { dryRun: "yes" });
});

test("recipients are addresses, domains and functions, or one function", () => {
  const options: ClientOptions[] = [
    { recipients: { allow: ["ada@ours.example", "*@ours.example", (address) => address.length < 20] } },
    { recipients: { allow: (address) => address.endsWith(".example") }, dryRun: true },
    // @ts-expect-error a list
    { recipients: { allow: "*@ours.example" } },
    // @ts-expect-error allow is what it takes
    { recipients: ["*@ours.example"] },
  ];
  expectTypeOf(options).toEqualTypeOf<ClientOptions[]>();
});
