// Writes SKILL.md, for assistants that write programs with the package: rules, the README's programs, signatures.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), "utf8");

/** The file that `npm run skill` writes. */
export const skillFile = join(root, "SKILL.md");

/** Headings of README.md whose programs are shown. */
const shownSections = [
  "First call, without an account",
  "Pagination: export every contact once",
  "Ingestion: record every event once",
  "Idempotency: send an email at most once",
  "Companies and lists",
  "Your workspace, typed",
  "Errors",
  "Timeouts and other options",
  "Testing",
];

/** Those whose tables are shown. */
const shownTables = ["Methods and what they cost", "Errors", "Rate limiting"];

const shownSignatures = [
  "class Client",
  "interface ClientOptions",
  "interface CallOptions",
  "class Contacts",
  "class Companies",
  "class Lists",
  "class Events",
  "class Emails",
  "class ScheduledEmails",
  "class Recorder",
  "type ContactInput",
  "type ContactPatch",
  "interface Contact",
  "type EventInput",
  "interface EventReceipt",
  "type EmailInput",
  "interface SentEmail",
  "interface SendOptions",
  "interface IngestOptions",
  "interface ImportOptions",
];

const intro = `---
name: touchpoint-sdk
description: Writes TypeScript and JavaScript programs with touchpoint-sdk, the client for the Touchpoint customer-relationship and outreach service (contacts, companies, lists, events, one-to-one email). Use it wherever code imports touchpoint-sdk, or calls paths under /api/v1 of that service.
---

# touchpoint-sdk

## Rules

- Create one \`Client\` per process and close it: \`await using\` from Node 24 on, otherwise \`await client.close()\`.
- The key and the address come from \`TOUCHPOINT_API_KEY\` and \`TOUCHPOINT_BASE_URL\`. Write neither into code, and use no key in a browser.
- Add no retries, sleeps, queues or limiters: the client keeps the documented limits and retries what is harmless.
- Never send an email again after an error whose \`outcome\` is \`"unknown"\`. Give \`{ once: key }\` with a \`fileLedger\` or
  \`redisLedger\` wherever a job may run twice.
- For a contact that may exist, use \`contacts.upsert\`, not \`create\` and a catch. For many records, use \`contacts.import\` and
  \`events.ingest\` with a \`checkpoint\`, not a loop.
- \`ingest\` counts equal events without an \`id\` as one event: give ids, or \`idFrom: { source }\`.
- Read lists with \`for await\`. Your own \`skip\` misses contacts while others are deleted.
- Catch \`isTouchpointError(error)\`, and tell classes apart by \`instanceof\` or \`error.code\`. Messages are not an interface.
- Test against \`createSandbox()\`: no network, no mocks. \`sandbox.fail({ … })\` makes calls fail, \`sandbox.state\` shows what
  happened.
- Spell fields as in the types below (\`linkedIn\`, \`leadId\`). A misspelt field does not compile, and is refused at run time.
`;

const missing = (what: string): never => {
  throw new Error(`SKILL.md: ${what} is not there any more: see scripts/skill.ts`);
};

const sectionsOf = (markdown: string): Map<string, string> =>
  new Map(
    markdown.split(/^## /m).map((section) => {
      const end = section.indexOf("\n");
      return [section.slice(0, end), section.slice(end + 1)] as const;
    }),
  );

const programsIn = (section: string): readonly string[] => section.match(/^```ts\n[\s\S]*?^```$/gm) ?? [];
const tableIn = (section: string): string | undefined => /^\|.*(?:\n\|.*)*/m.exec(section)?.[0];

const signatureIn = (report: string, name: string): string =>
  report.split(/\n\n|```ts\n/).find((signature) => new RegExp(`^${name}\\b`).test(signature)) ??
  missing(`${name} in docs/api.md`);

/** What SKILL.md must hold, by README.md and docs/api.md. */
export const skill = (): string => {
  const sections = sectionsOf(read("README.md"));
  const section = (title: string): string => sections.get(title) ?? missing(`"${title}" in README.md`);
  const tables = shownTables.map(
    (title) => `## ${title}\n\n${tableIn(section(title)) ?? missing(`a table in "${title}"`)}\n`,
  );
  const programs = shownSections.map(
    (title) => `### ${title}\n\n${programsIn(section(title)).join("\n\n")}\n`,
  );
  const report = read("docs/api.md").replace(/\n```\n[\s\S]*/, "");
  // What a client makes, a program does not construct.
  const signatures = shownSignatures.map((name) =>
    signatureIn(report, name).replace(/ {4}constructor\(call.*\n/, ""),
  );
  return [
    intro,
    ...tables,
    `## Programs\n\n${programs.join("\n")}`,
    `## Signatures\n\nThe rest is in the package's declarations.\n\n\`\`\`ts\n${signatures.join("\n\n")}\n\`\`\`\n`,
  ].join("\n");
};

if (process.argv[1] === import.meta.filename) writeFileSync(skillFile, skill());
