// Adds any number of people to a list, 1,000 in a request. Their other lists do not change.
import { Client, ConflictError, isTouchpointError } from "touchpoint-sdk";

const client = new Client();

const { id } = await client.lists.create({ name: "Newsletter" });

// The service creates contacts for addresses that have none.
const readers = Array.from({ length: 1_500 }, (_, index) => `reader-${index}@example.com`);
try {
  const { requested, calls } = await client.lists.addContacts(id, readers);
  console.log(`${requested} added in ${calls} calls`);
} catch (error) {
  // You can add all of them again: a repeat is harmless. `partial` lists the addresses that are left.
  if (isTouchpointError(error)) console.error(error.message, error.partial?.left?.length, "left");
  throw error;
}
await client.lists.removeContacts(id, ["reader-7@example.com"]);

const reader = await client.contacts.find("reader-7@example.com");
console.log("still a contact:", reader !== null, "lists:", reader?.listIds);

try {
  await client.lists.create({ name: "Newsletter" });
} catch (error) {
  if (error instanceof ConflictError) console.log("the name is taken:", error.message);
}

await client.close();
