/** The output of each example on an empty sandbox. `<id>`, `<time>` and `<n>` vary. `…` matches any text. */
const printed: Readonly<Record<string, string>> = {
  "companies.ts": "true Bletchley Computing Ltd\nJoan Clarke true",
  "errors.ts":
    "nothing was sent: must be one email address such as ada@example.com\ncreated <id>\n" +
    "there is one already: Another contact already has this email.",
  "export-csv.ts": "contacts-export.csv: 0 contacts, 23 bytes",
  "first-call.ts": "created <id>\n1 of 1 contacts\nkatherine@example.com Katherine Johnson",
  "ingest-resume.ts":
    "{\n  read: 3,\n  skipped: 0,\n  accepted: 2,\n  duplicates: 1,\n  rejected: 0,\n  tooOld: 0,\n  noContact: 0,\n" +
    "  runsStarted: 0,\n  unknown: 0,\n  elapsedMs: <n>\n}\n…3 events, <n> a second",
  "lists.ts":
    "1500 added in 2 calls\nstill a contact: true lists: []\n" +
    "the name is taken: Another list already has this name.",
  "opentelemetry.ts": "{…name: 'POST /api/v1/contacts',…name: 'contacts.upsert',…",
  "recorder-server.ts": "recorded 40",
  "schedule-email.ts":
    "SCHEDULED <time>\n<id> SCHEDULED <time>\n" +
    "NotFoundError No scheduled email with that id in this workspace.",
  "send-email.ts":
    "sent at <time>, tracked\n" +
    "refused: The contact is in stage UNSUBSCRIBED; send with force: true to email them anyway.\n" +
    "sent at <time>, tracked",
  "send-once.ts": "sent: <id>\nsent: <id>",
  "serverless.ts": "{ status: 204 }\n0 events left",
  "testing-with-sandbox.ts": "…ok 1 - a sign-up is recorded once although its response was lost…# fail 0…",
  "typed-workspace.ts":
    "pro undefined\n[\n  {\n    path: 'properties.total',\n" +
    "    message: 'Invalid input: expected number, received string'\n  }\n]",
};

const parts: Readonly<Record<string, string>> = {
  "<id>": "[a-z]+_\\w+",
  "<time>": "\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z",
  "<n>": "[\\d.]+",
  "…": "[^]*",
};

/** Returns a pattern for the output of an example. If the table lacks the example, the pattern matches no output. */
export const outputOf = (example: string): RegExp => {
  const texts = printed[example]?.split(/(<id>|<time>|<n>|…)/) ?? ["(not in the table)"];
  return new RegExp(
    `^${texts.map((text) => parts[text] ?? text.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&")).join("")}$`,
  );
};
