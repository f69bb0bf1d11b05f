import { expectTypeOf, test } from "vitest";
import type {
  Client,
  ContactInput,
  ContactSource,
  ContactStage,
  EventOutcome,
  ScheduledEmail,
} from "../../src/index.ts";

declare const client: Client;

test("known values of stage, source and status complete, and others are accepted", () => {
  expectTypeOf<"REPLIED">().toExtend<ContactStage>();
  expectTypeOf<string>().toExtend<ContactStage>();
  expectTypeOf<"MANUAL">().toExtend<ContactSource>();
  expectTypeOf<string>().toExtend<ContactSource>();
  expectTypeOf<string>().toExtend<NonNullable<ScheduledEmail["status"]>>();
});

test("the outcome of an event is one of the document's three words", () => {
  expectTypeOf<EventOutcome>().toEqualTypeOf<"PROCESSED" | "NO_CONTACT" | "TOO_OLD">();
});

test("a field that no answer has does not compile", async () => {
  const contact = await client.contacts.create({ email: "ada@example.com" });
  // @ts-expect-error a misspelt field
  contact.emial;
  // @ts-expect-error not the document's spelling
  contact.linkedin;
  const email = { to: contact.email, subject: "Hi", text: "Hello" };
  // @ts-expect-error of an event's receipt
  (await client.emails.send(email)).outcome;
  // @ts-expect-error a list has no members here
  (await client.lists.create({ name: "Readers" })).contacts;
});

test("only the address of a new contact is required", () => {
  expectTypeOf<{ email: string }>().toExtend<ContactInput>();
  // @ts-expect-error no address
  client.contacts.create({ name: "Ada" });
});
