// A sandbox over HTTP in a process of its own. Settings come as JSON in the first argument; tells its URL to its
// parent, and answers "report" with what it saw.
import { createSandbox, type SandboxOptions } from "touchpoint-sdk/sandbox";

interface ServerSettings {
  readonly contacts: number;
  readonly options: SandboxOptions;
}

// Written by the parent of the same folder.
const { contacts, options }: ServerSettings = JSON.parse(process.argv[2] ?? "{}");
const sandbox = createSandbox({ apiKeys: ["key"], keepRequests: 0, ...options });
sandbox.seedContacts(contacts);
const { url } = await sandbox.listen({ port: 0 });
process.on("message", () => {
  const { counts, events, emails } = sandbox.state;
  process.send?.({ counts, events: events.length, emails: emails.length });
});
process.on("disconnect", () => process.exit());
process.send?.({ url });
