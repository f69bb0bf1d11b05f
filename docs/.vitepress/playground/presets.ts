/** A program that a visitor runs, changes and runs again. */
export interface Preset {
  readonly name: string;
  /** One sentence above the code. */
  readonly about: string;
  /** The body of an async function of `client`, `sandbox` and `log`. */
  readonly code: string;
  /** The operation whose response the button loses. */
  readonly loses: string;
  /** How many contacts the workspace begins with. */
  readonly contacts?: number;
}

export const presets: readonly Preset[] = [
  {
    name: "An email, once",
    about: "Lose the response: the program knows that it does not know. Run it again: still one email.",
    loses: "emails.send",
    code: `const email = {
  to: "ada@example.com",
  subject: "Welcome",
  text: "Good to have you.",
};
const once = "welcome:42";
const sent = await client.emails.send(email, { once });
log("sent", sent.id);`,
  },
  {
    name: "A 429, waited out",
    about:
      "Another program has used up the limit: the service asks for two seconds, and the call takes them.",
    loses: "contacts.list",
    contacts: 3,
    code: `sandbox.fail({
  operation: "contacts.list",
  with: { status: 429, retryAfter: 2 },
});
const page = await client.contacts.list({ limit: 2 });
log(page.data.length, "of", page.total, "contacts");
const { used, remaining } = client.budgets().requests;
log(used, "requests used,", remaining, "left");`,
  },
  {
    name: "An export that moves",
    about: "Contacts are deleted and added between pages. Everyone who was there throughout is read once.",
    loses: "contacts.list",
    contacts: 300,
    code: `const there = new Set(sandbox.state.contacts.map((c) => c.id));
const read = [];
for await (const { id } of client.contacts.list({ limit: 50 })) {
  read.push(id);
  if (read.length % 40 === 1) there.delete(remove(id));
  if (read.length % 60 === 1) sandbox.addContact({ email: \`new\${read.length}@example.com\` });
}
const missed = [...there].filter((id) => !read.includes(id));
log(read.length, "read,", missed.length, "missed,", read.length - new Set(read).size, "twice");`,
  },
  {
    name: "One event, three times",
    about: "The same event is recorded three times. It counts once, also when a response is lost.",
    loses: "events.record",
    code: `const event = {
  id: "order-1001",
  name: "order.placed",
  contact: { email: "ada@example.com" },
};
for (const time of [1, 2, 3]) {
  const { duplicate } = await client.events.record(event);
  log("time", time, duplicate ? "known already" : "recorded");
}`,
  },
];
