import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { run, type Scratch, scratch } from "./support/scratch.ts";

let project: Scratch;
beforeAll(async () => {
  project = await scratch();
});
afterAll(() => project.remove());

const fileless = `
  import { Client, type Contact, type ContactInput, isTouchpointError, RateLimitError } from "touchpoint-sdk";
  import { redisLimits } from "touchpoint-sdk/redis";
  import { createSandbox } from "touchpoint-sdk/sandbox";

  declare module "touchpoint-sdk" {
    interface Contact {
      readonly vip?: boolean;
    }
  }

  export const run = async (client: Client): Promise<Contact[]> => {
    const input: ContactInput = { email: "ada@example.com", stage: "DEAD", customFields: { plan: null } };
    // @ts-expect-error a mistyped field
    const mistyped: ContactInput = { email: "ada@example.com", nmae: "Ada" };
    const contact: Contact = await client.contacts.create(input);
    const name: string | null | undefined = contact.name;
    const declaredByMerging: boolean | undefined = contact.vip;
    // @ts-expect-error a mistyped field
    contact.emial;
    // @ts-expect-error the name may be missing
    const sure: string = contact.name;
    for await (const { id } of client.contacts.list({ search: name ?? sure })) await client.contacts.update(id, mistyped);
    const { outcome, runsStarted } = await client.events.record({ name: "order.placed", contact: { id: contact.id } });
    // @ts-expect-error a count is no string
    const count: string = runsStarted;
    return [{ ...contact, name: outcome + count, vip: declaredByMerging === true }];
  };

  export const waitOf = (error: unknown): number | undefined =>
    isTouchpointError(error) && error instanceof RateLimitError ? error.retryAfterMs : undefined;

  export const client = new Client({ apiKey: async () => "tp_key", baseUrl: "https://crm.example", fetch });
  export const sandbox = createSandbox({ apiKeys: ["tp_key"] });
  // @ts-expect-error no client of Redis
  export const unshared = redisLimits({}, { id: "key" });
`;

const program = `${fileless}
  import { readCsv, writeNdjson } from "touchpoint-sdk/files";

  export const copied = writeNdjson("people.ndjson", readCsv("people.csv"));
  // @ts-expect-error a file has a name
  export const nameless = readCsv(1);
`;

const strict = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  noEmit: true,
  target: "es2022",
};
const byNode16 = { ...strict, module: "node16" };
const byBundler = { ...strict, module: "esnext", moduleResolution: "bundler" };

const compile = async (
  { folder, write }: Scratch,
  compilerOptions: object,
  files: Readonly<Record<string, string>>,
) => {
  for (const [file, text] of Object.entries(files)) await write(file, text);
  await write("tsconfig.json", JSON.stringify({ compilerOptions, files: Object.keys(files) }));
  return run(process.execPath, ["node_modules/typescript/bin/tsc"], folder);
};

const clean = { code: 0, stdout: "", stderr: "" };

// TypeScript 6 reads no types that a project does not list.
describe.each([
  ["lists Node's types", { types: ["node"] }],
  ["lists no types", {}],
])("a strict project that %s", (_, types) => {
  test("accepts the package's from ES modules and CommonJS by node16 resolution", async () => {
    const files = { "esm.mts": program, "cjs.cts": program };
    expect(await compile(project, { ...byNode16, ...types }, files)).toEqual(clean);
  });

  test("accepts the package's by bundler resolution", async () => {
    expect(await compile(project, { ...byBundler, ...types }, { "bundled.ts": program })).toEqual(clean);
  });
});

test("a project without Node's types accepts the package's, but for those of files", async () => {
  const bare = await scratch(["typescript"]);
  try {
    const files = { "esm.mts": fileless, "cjs.cts": fileless };
    expect(await compile(bare, byNode16, files)).toEqual(clean);
    expect(await compile(bare, byBundler, { "bundled.ts": fileless })).toEqual(clean);
  } finally {
    await bare.remove();
  }
});
