// Runs a sandbox over HTTP in its own process. The first argument has the settings as JSON. The process sends its URL to its
// parent, and answers each message with the counts of the sandbox.
import { createSandbox, type SandboxOptions } from "touchpoint-sdk/sandbox";

interface ServerSettings {
  readonly contacts: number;
  readonly options: SandboxOptions;
}

// Only service-process.ts starts this program.
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
