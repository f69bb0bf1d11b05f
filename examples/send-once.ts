// Sends one email for each key, however often and in however many processes you call.
import { Client, fileLedger, isTouchpointError } from "touchpoint-sdk";

// The ledger stores the key before the first byte is sent. The default, memoryLedger(), ends with the process.
const ledger = fileLedger("sent-emails.ledger");

const welcome = async (client: Client, userId: number): Promise<string> => {
  try {
    const email = { to: "grace@example.com", subject: "Welcome", text: "Good to have you here." };
    const { id } = await client.emails.send(email, { once: `welcome:${userId}` });
    return `sent: ${id}`;
  } catch (error) {
    // An earlier call got no response: look in the mail account, then settle the key.
    if (isTouchpointError(error) && error.outcome === "unknown") return error.message;
    throw error;
  }
};

const first = new Client({ ledger });
console.log(await welcome(first, 42));
await first.close();

// After a restart, the call returns the first receipt and sends nothing.
const second = new Client({ ledger: fileLedger("sent-emails.ledger") });
console.log(await welcome(second, 42));
await second.close();
