// A web server that records an event for each request, and loses none when it stops.
import { createServer } from "node:http";
import { Client } from "touchpoint-sdk";

const client = new Client();
// `onDrop` reports each event that could not be recorded.
const recorder = client.events.recorder({ onDrop: ({ error }) => console.error(error) });
const { PORT } = process.env;
let recorded = 0;

const server = createServer(async ({ url }, response) => {
  const visit = { name: "page.viewed", contact: { email: "ada@example.com" }, properties: { url } };
  const { status } = await recorder.record(visit).catch(() => ({ status: 503 }));
  if (status === 202) recorded += 1;
  response.writeHead(status).end();
});

// Stops accepting requests, then sends the recorded events within the 30 s that orchestrators allow.
const stop = () =>
  server.close(() => client.close({ graceMs: 25_000 }).then(() => console.log(`recorded ${recorded}`)));
process.once("SIGTERM", stop);

server.listen(Number(PORT ?? 0), async () => {
  const address = server.address(); // without PORT, the program sends requests to itself and stops
  if (PORT !== undefined || typeof address !== "object") return;
  await Promise.all(
    Array.from({ length: 40 }, (_, page) => fetch(`http://localhost:${address?.port}/${page}`)),
  );
  process.kill(process.pid, "SIGTERM");
});
