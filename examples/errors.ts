// Every error has a class, a code, and an `outcome`: whether the call may have taken effect.
import { Client, ConflictError, isTouchpointError, RateLimitError, ValidationError } from "touchpoint-sdk";

const client = new Client();

const create = async (email: string): Promise<string> => {
  try {
    return `created ${(await client.contacts.create({ email })).id}`;
  } catch (error) {
    if (error instanceof ValidationError) return `nothing was sent: ${error.issues[0]?.message}`;
    if (error instanceof ConflictError) return `there is one already: ${error.message}`;
    if (error instanceof RateLimitError) return `try again in ${error.retryAfterMs} ms`;
    // If the response is lost, the client does not retry a create. Look whether the contact exists now.
    if (isTouchpointError(error) && error.outcome === "unknown") {
      return (await client.contacts.find(email)) === null ? "not created" : "created";
    }
    throw error;
  }
};

console.log(await create("no address"));
console.log(await create("hedy@example.com"));
console.log(await create("hedy@example.com"));

await client.close();
