/** A test, by its file and its title as written there. */
export interface Held {
  readonly file: string;
  readonly title: string;
}

/** A sentence, row, rule, status, limit or field of the service document in our own words, and what holds it. */
export interface Statement {
  readonly says: string;
  readonly heldBy: readonly Held[];
}

/** A part of the service document; its statements are numbered in the order of the document. */
export interface Section {
  readonly name: string;
  readonly statements: readonly Statement[];
}

/** Names tests of one file. */
export type TestsOf = (...titles: readonly string[]) => readonly Held[];

const testsOf =
  (file: string): TestsOf =>
  (...titles) =>
    titles.map((title) => ({ file, title }));

/** Declares a statement. */
export const says = (text: string, ...heldBy: readonly (readonly Held[])[]): Statement => ({
  says: text,
  heldBy: heldBy.flat(),
});

export const endpoints = testsOf("test/contract/endpoints.test.ts");
export const errors = testsOf("test/contract/errors.test.ts");
export const fields = testsOf("test/contract/fields.test.ts");
export const leftOpen = testsOf("test/contract/left-open.test.ts");
export const openTypes = testsOf("test/types/left-open.test-d.ts");
export const properties = testsOf("test/contract/properties.test.ts");
export const rules = testsOf("test/contract/rules.test.ts");
export const answers = testsOf("test/contract/sandbox-answers.test.ts");
export const schemas = testsOf("test/contract/schemas.test.ts");
export const contacts = testsOf("test/unit/sandbox/contacts.test.ts");
export const companies = testsOf("test/unit/sandbox/companies.test.ts");
export const lists = testsOf("test/unit/sandbox/lists.test.ts");
export const events = testsOf("test/unit/sandbox/events.test.ts");
export const emails = testsOf("test/unit/sandbox/emails.test.ts");
export const emailCalls = testsOf("test/unit/resources/emails.test.ts");
export const emailFlow = testsOf("test/flow/emails.test.ts");
export const listCalls = testsOf("test/unit/resources/lists.test.ts");
export const listFlow = testsOf("test/flow/lists.test.ts");
export const companyCalls = testsOf("test/unit/resources/companies.test.ts");
export const emailTypes = testsOf("test/types/emails.test-d.ts");
export const keys = testsOf("test/unit/sandbox/keys.test.ts");
export const limits = testsOf("test/unit/sandbox/limits.test.ts");
export const retries = testsOf("test/unit/http/retry.test.ts");
export const pauses = testsOf("test/unit/rate-limit/stage.test.ts");
