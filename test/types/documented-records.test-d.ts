import { describe, expectTypeOf, test } from "vitest";
import type {
  BatchItemResult,
  Company,
  CompanyContact,
  CompanyInput,
  Contact,
  ContactInput,
  ContactPatch,
  EmailInput,
  EventInput,
  EventReceipt,
  Page,
  ScheduledEmail,
  SentEmail,
} from "../../src/index.ts";
import type { samples } from "../contract/samples.ts";

// The table of fields that the sandbox's responses are compared with too (test/contract/sandbox-answers.test.ts).
type Samples = typeof samples;

/** A value of the table as JSON gives it: arrays and objects that can be changed. */
type Json<T> = T extends readonly (infer Item)[]
  ? Json<Item>[]
  : T extends object
    ? { -readonly [Field in keyof T]: Json<T[Field]> }
    : T;

/** The fields that a union has in any of its members. */
type FieldOf<T> = T extends unknown ? keyof T : never;

describe("a response has the fields of the document's table and no other", () => {
  test("a contact", () => {
    expectTypeOf<keyof Contact>().toEqualTypeOf<keyof Samples["contact"]>();
    expectTypeOf<Json<Samples["contact"]>>().toExtend<Contact>();
  });

  test("a page of contacts", () => {
    expectTypeOf<keyof Page<Contact>>().toEqualTypeOf<keyof Samples["contactPage"]>();
    expectTypeOf<Json<Samples["contactPage"]>>().toExtend<Page<Contact>>();
  });

  test("a company, besides its id, and a person of it", () => {
    expectTypeOf<Exclude<keyof Company, "id">>().toEqualTypeOf<keyof Samples["company"]>();
    expectTypeOf<Json<Samples["company"]> & { id: string }>().toExtend<Company>();
    type Person = Samples["company"]["contacts"][number];
    expectTypeOf<keyof CompanyContact>().toEqualTypeOf<keyof Person>();
  });

  test("an event's receipt", () => {
    expectTypeOf<keyof EventReceipt>().toEqualTypeOf<keyof Samples["receipt"]>();
    expectTypeOf<Json<Samples["receipt"]>>().toExtend<EventReceipt>();
  });

  test("a result of a batch, besides the index and the state that tell results apart", () => {
    type Given = FieldOf<Samples["batchAnswer"]["results"][number]>;
    expectTypeOf<Exclude<FieldOf<BatchItemResult>, "index" | "state">>().toEqualTypeOf<Given>();
  });

  test("a sent and a scheduled email, besides what a dry run adds and the document's `scheduled: true`", () => {
    expectTypeOf<Exclude<keyof SentEmail, "request">>().toEqualTypeOf<keyof Samples["sentEmail"]>();
    expectTypeOf<Json<Samples["sentEmail"]>>().toExtend<SentEmail>();
    type Given = Exclude<keyof ScheduledEmail, "request" | "scheduled">;
    expectTypeOf<Given>().toEqualTypeOf<keyof Samples["scheduledEmail"]>();
    expectTypeOf<Json<Samples["scheduledEmail"]>>().toExtend<ScheduledEmail>();
  });
});

describe("an input takes the fields of the document's table and no other", () => {
  test("a contact, but for what the service sets", () => {
    type Writable = Exclude<keyof Samples["contact"], "id" | "externalId" | "createdAt" | "updatedAt">;
    expectTypeOf<keyof ContactInput>().toEqualTypeOf<Writable>();
    expectTypeOf<keyof ContactPatch>().toEqualTypeOf<Writable>();
  });

  test("a company", () => {
    expectTypeOf<keyof CompanyInput>().toEqualTypeOf<keyof Samples["company"]>();
    expectTypeOf<Json<Samples["company"]>>().toExtend<CompanyInput>();
  });

  test("an event", () => {
    expectTypeOf<keyof EventInput>().toEqualTypeOf<keyof Samples["event"]>();
    expectTypeOf<Json<Samples["event"]>>().toExtend<EventInput>();
  });

  test("an email, with html or text", () => {
    // The other two only carry the sentence that the compiler shows where they are given.
    expectTypeOf<Exclude<FieldOf<EmailInput>, "sendAt" | "once">>().toEqualTypeOf<
      keyof Samples["email"] | "text"
    >();
    expectTypeOf<Json<Samples["email"]>>().toExtend<EmailInput>();
  });
});
