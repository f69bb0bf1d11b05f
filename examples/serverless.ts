// A function that the platform freezes after its response: `waitUntil` keeps it running until the events are sent.
import { Client } from "touchpoint-sdk";

/** What platforms pass to a function, under this name or another. */
interface Context {
  waitUntil(promise: Promise<unknown>): void;
}

const client = new Client();

export const handler = async (request: { url: string }, context: Context): Promise<{ status: number }> => {
  const recorder = client.events.recorder({
    waitUntil: (promise) => context.waitUntil(promise),
    onDrop: ({ error }) => console.error(error),
  });
  // The function responds at once. The event is sent with the next batch, before the function is frozen.
  void recorder.record({
    name: "page.viewed",
    contact: { email: "ada@example.com" },
    properties: { url: request.url },
  });
  return { status: 204 };
};

const open: Promise<unknown>[] = [];
console.log(await handler({ url: "/pricing" }, { waitUntil: (promise) => void open.push(promise) }));
await Promise.all(open);
const { pending } = await client.close();
console.log(`${pending} events left`);
