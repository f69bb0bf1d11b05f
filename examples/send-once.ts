// Sends an email once per key, in whichever process, however often it is tried.
import { Client, fileLedger, isTouchpointError } from "touchpoint-sdk";

// The key is in the ledger before the first byte leaves. Default: memoryLedger(), which ends with the process.
const ledger = fileLedger("sent-emails.ledger");

const welcome = async (client: Client, userId: number): Promise<string> => {
  try {
    const email = { to: "grace@example.com", subject: "Welcome", text: "Good to have you here." };
    const { id } = await client.emails.send(email, { once: `welcome:${userId}` });
    return `sent: ${id}`;
  } catch (error) {
    // An earlier try got no response, so nobody knows: look into the mail account, then decide.
    if (isTouchpointError(error) && error.outcome === "unknown") return error.message;
    throw error;
  }
};

const first = new Client({ ledger });
console.log(await welcome(first, 42));
await first.close();

// As after a restart: the first receipt comes back, and nothing is sent.
const second = new Client({ ledger: fileLedger("sent-emails.ledger") });
console.log(await welcome(second, 42));
await second.close();
