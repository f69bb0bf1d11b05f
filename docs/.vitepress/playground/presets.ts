/** A program that a visitor runs, changes and runs again. */
export interface Preset {
  readonly name: string;
  /** One sentence above the code. */
  readonly about: string;
  /** The program, of at most eight lines, with the `client` and the `sandbox` of `setupOf`. */
  readonly code: string;
  /** The operation whose response the button loses. */
  readonly loses: string;
  /** How many contacts the workspace begins with. */
  readonly contacts?: number;
  /** The limit that is drawn beside the calls. */
  readonly budget?: "requests";
}

/** What comes before each program: shown above it, and done once. With it, what is copied from the page runs anywhere. */
export const setupOf = ({ contacts }: Preset): string =>
  [
    'import { Client } from "touchpoint-sdk";',
    'import { createSandbox } from "touchpoint-sdk/sandbox";',
    'const sandbox = createSandbox({ apiKeys: ["key"] });',
    ...(contacts === undefined ? [] : [`sandbox.seedContacts(${contacts});`]),
    'const access = { apiKey: "key", baseUrl: "http://localhost" };',
    "const client = new Client({ ...access, fetch: sandbox.fetch });",
  ].join("\n");

export const presets: readonly Preset[] = [
  {
    name: "An email, once",
    about: "Lose the response: the outcome is unknown. Run the program again: still one email.",
    loses: "emails.send",
    code: `const email = {
  to: "ada@example.com",
  subject: "Welcome",
  text: "Good to have you.",
};
const once = "welcome:42";
const sent = await client.emails.send(email, { once });
console.log("sent", sent.id);`,
  },
  {
    name: "A 429, waited out",
    about:
      "Another program has used up the limit: the service asks for two seconds, and the call takes them.",
    loses: "contacts.list",
    contacts: 3,
    budget: "requests",
    code: `sandbox.fail({
  operation: "contacts.list",
  with: { status: 429, retryAfter: 2 },
});
const page = await client.contacts.list({ limit: 2 });
console.log(page.data.length, "of", page.total, "contacts");`,
  },
  {
    name: "An export that moves",
    about: "Contacts are deleted and added between pages. Everyone who was there throughout is read once.",
    loses: "contacts.list",
    contacts: 300,
    code: `const there = sandbox.state.contacts.map(({ id }) => id);
const read = [];
for await (const { id } of client.contacts.list({ limit: 50 })) {
  if (read.push(id) % 40 === 1) sandbox.removeContact(id);
  if (read.length % 60 === 1) sandbox.addContact({ email: \`\${id}@example.com\` });
}
const missed = there.filter((id) => !read.includes(id)).length;
console.log(read.length, "read,", missed, "missed,", read.length - new Set(read).size, "twice");`,
  },
  {
    name: "One event, three times",
    about: "The same event is recorded three times. It counts once, also when a response is lost.",
    loses: "events.record",
    code: `const contact = { email: "ada@example.com" };
const event = { id: "order-1001", name: "order.placed", contact };
for (const time of [1, 2, 3]) {
  const { duplicate } = await client.events.record(event);
  console.log("time", time, duplicate ? "known already" : "recorded");
}`,
  },
];
