import { expectTypeOf, test } from "vitest";
import type {
  Client,
  Contact,
  ContactInput,
  EventOutcome,
  ScheduledEmail,
  Source,
  Stage,
} from "../../src/index.ts";

declare const client: Client;

test("known values of stage, source, status and outcome complete, and others are accepted", () => {
  expectTypeOf<"REPLIED">().toExtend<Stage>();
  expectTypeOf<string>().toExtend<Stage>();
  expectTypeOf<"MANUAL">().toExtend<Source>();
  expectTypeOf<string>().toExtend<Source>();
  expectTypeOf<string>().toExtend<NonNullable<ScheduledEmail["status"]>>();
  expectTypeOf<string>().toExtend<EventOutcome>();
});

test("fields of an answer that the document does not name are unknown, not refused", () => {
  expectTypeOf<Contact["anything"]>().toEqualTypeOf<unknown>();
});

test("only the address of a new contact is required", () => {
  expectTypeOf<{ email: string }>().toExtend<ContactInput>();
  // @ts-expect-error no address
  client.contacts.create({ name: "Ada" });
});
