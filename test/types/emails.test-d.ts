import { expectTypeOf, test } from "vitest";
import type { Client, EmailInput, MembersReport, ScheduledEmail, SentEmail } from "../../src/index.ts";

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
  expectTypeOf(client.emails.schedule).parameter(0).toHaveProperty("sendAt").toEqualTypeOf<Date | string>();
});

test("each method answers its own record", () => {
  const email: EmailInput = { ...head, text: "Hello" };
  expectTypeOf(client.emails.send(email, { once: "k" })).resolves.toEqualTypeOf<SentEmail>();
  expectTypeOf(client.emails.scheduled.update("id", {})).resolves.toEqualTypeOf<ScheduledEmail>();
  expectTypeOf(client.emails.scheduled.cancel("id")).resolves.toEqualTypeOf<void>();
  expectTypeOf(client.emails.scheduled.list().toArray()).resolves.toEqualTypeOf<ScheduledEmail[]>();
});

test("addresses come from an array, a set or a stream, and are no string", () => {
  expectTypeOf(client.lists.addContacts("id", new Set([""]))).resolves.toEqualTypeOf<MembersReport>();
  // @ts-expect-error one string would be read letter by letter
  client.lists.addContacts("id", "ada@example.com");
});
