import { afterAll, beforeAll, expect, test } from "vitest";
import { run, type Scratch, scratch } from "./support/scratch.ts";

let project: Scratch;
beforeAll(async () => {
  project = await scratch();
});
afterAll(() => project.remove());

const program = `
  import { Client, type Contact, type ContactInput, isTouchpointError, RateLimitError } from "touchpoint-sdk";
  import { createSandbox } from "touchpoint-sdk/sandbox";

  export const run = async (client: Client): Promise<Contact[]> => {
    const input: ContactInput = { email: "ada@example.com", stage: "DEAD", customFields: { plan: null } };
    // @ts-expect-error a mistyped field
    const mistyped: ContactInput = { email: "ada@example.com", nmae: "Ada" };
    const contact: Contact = await client.contacts.create(input);
    const name: string | null | undefined = contact.name;
    // @ts-expect-error the name may be missing
    const sure: string = contact.name;
    for await (const { id } of client.contacts.list({ search: name ?? sure })) await client.contacts.update(id, mistyped);
    const { outcome, runsStarted } = await client.events.record({ name: "order.placed", contact: { id: contact.id } });
    // @ts-expect-error a count is no string
    const count: string = runsStarted;
    return [{ ...contact, name: outcome + count }];
  };

  export const waitOf = (error: unknown): number | undefined =>
    isTouchpointError(error) && error instanceof RateLimitError ? error.retryAfterMs : undefined;

  export const client = new Client({ apiKey: async () => "tp_key", baseUrl: "https://crm.example", fetch });
  export const sandbox = createSandbox({ apiKeys: ["tp_key"] });
`;

const strict = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  noEmit: true,
  target: "es2022",
  types: ["node"],
};

const compile = async (compilerOptions: object, files: readonly string[]) => {
  for (const file of files) await project.write(file, program);
  await project.write("tsconfig.json", JSON.stringify({ compilerOptions, files }));
  return run(process.execPath, ["node_modules/typescript/bin/tsc"], project.folder);
};

const clean = { code: 0, stdout: "", stderr: "" };

test("strict TypeScript accepts its types from ES modules and CommonJS by node16 resolution", async () => {
  expect(await compile({ ...strict, module: "node16" }, ["esm.mts", "cjs.cts"])).toEqual(clean);
});

test("strict TypeScript accepts its types by bundler resolution", async () => {
  const options = { ...strict, module: "esnext", moduleResolution: "bundler" };
  expect(await compile(options, ["bundled.ts"])).toEqual(clean);
});
