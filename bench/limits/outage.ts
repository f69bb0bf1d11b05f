import { createServer } from "node:http";
import { Client } from "../../src/index.ts";

const calls = 300;

/** Measures an outage: the requests per interactive call, and whether an export survives it. */
export const outageCells = async (): Promise<void> => {
  let isDown = true;
  let requests = 0;
  const page = JSON.stringify({ data: [], total: 0, skip: 0, limit: 200 });
  const server = createServer((_, response) => {
    requests += 1;
    response.writeHead(isDown ? 500 : 200, { "content-type": "application/json" });
    response.end(isDown ? '{ "error": "down" }' : page);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const client = new Client({ apiKey: "key", baseUrl: `http://127.0.0.1:${port}`, limits: false });
  const round = async (): Promise<number> => {
    const before = requests;
    const find = () => client.contacts.find("ada@example.com").catch(() => undefined);
    await Promise.all(Array.from({ length: calls }, find));
    return (requests - before) / calls;
  };
  const first = await round();
  const empty = await round();
  // The retry quota is empty now. Background work does not use it.
  const before = requests;
  const exported = client.contacts.list().toArray();
  while (requests < before + 3) await new Promise((resolve) => setImmediate(resolve));
  isDown = false;
  const outcome = await exported.then(
    () => "survives it",
    () => "fails",
  );
  console.log(
    `outage, ${calls} interactive calls: ${first.toFixed(2)} requests a call while the quota lasts, ${empty.toFixed(2)} once it is empty (<= 1.1 wanted); an export ${outcome}`,
  );
  await client.close();
  server.close();
};
