// Sends one email under a key that several runs of this program share. Argument: the ledger file.
import { Client, fileLedger, isTouchpointError } from "touchpoint-sdk";
import { report } from "./child.ts";

const [ledgerFile = ""] = process.argv.slice(2);
const client = new Client({ ledger: fileLedger(ledgerFile) });
try {
  const email = { to: "ada@example.com", subject: "Welcome", text: "Good to have you." };
  await client.emails.send(email, { once: "welcome:42" });
  await report({ kind: "sent", code: undefined, outcome: undefined });
} catch (error) {
  if (!isTouchpointError(error)) throw error;
  await report({ kind: "sent", code: error.code, outcome: error.outcome });
} finally {
  await client.close();
}
