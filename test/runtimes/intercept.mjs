// One interceptor of HTTP, set up before or after the package is imported: does the client's default transport see it?
import { once } from "node:events";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { equal } from "./steps.mjs";

const [, , kind = "", version = "", when = ""] = process.argv;
const require = createRequire(process.env.INSTALLED);
const load = (path = "") => import(pathToFileURL(require.resolve(`${kind}${version}${path}`)).href);

const left = [];
// A busy machine takes longer than the usual 5 s from one request to the next.
const network = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  left.push(request.url);
  request.resume().on("end", () => response.end('{"id":"network"}'));
}).listen(0, "127.0.0.1");
await once(network, "listening");
const baseUrl = `http://127.0.0.1:${network.address().port}`;
const path = "/api/v1/emails";

/** Each answers sends, refuses everything else, and is taken away by what it returns. */
const interceptors = {
  msw: async () => {
    const [{ http, HttpResponse }, { setupServer }] = await Promise.all([load(), load("/node")]);
    const server = setupServer(http.post(`${baseUrl}${path}`, () => HttpResponse.json({ id: "double" })));
    // Each major by its own name for it, as the testing guide shows: the other is ignored.
    server.listen(version === "2" ? { onUnhandledRequest: "error" } : { onUnhandledFrame: "error" });
    return () => server.close();
  },
  nock: async () => {
    const { default: nock } = await load();
    nock.disableNetConnect();
    nock(baseUrl).post(path).times(2).reply(200, { id: "double" });
    return () => nock.restore();
  },
  undici: async () => {
    const { MockAgent, getGlobalDispatcher, setGlobalDispatcher } = await load();
    const before = getGlobalDispatcher();
    const agent = new MockAgent();
    agent.disableNetConnect();
    agent.get(baseUrl).intercept({ path, method: "POST" }).reply(200, { id: "double" }).times(2);
    setGlobalDispatcher(agent);
    return () => setGlobalDispatcher(before);
  },
};

const clientOf = async (url = baseUrl) => {
  const { Client } = await import("touchpoint-sdk");
  return new Client({ apiKey: "key", baseUrl: url, limits: false, maxRetries: 0 });
};
const email = { to: "ada@example.com", subject: "Hello", text: "Hello" };

let client;
if (when === "after") {
  client = await clientOf();
  equal((await client.emails.send(email)).id, "network");
  // A connection is open by now.
  left.length = 0;
}
const takeAway = await interceptors[kind]();
client ??= await clientOf();
equal((await client.emails.send(email)).id, "double");
// Refused: nock 15 answers 501, the others break the request off.
const outcomeOf = (call) =>
  call.then(
    () => "an answer",
    ({ outcome }) => outcome,
  );
equal(await outcomeOf(client.contacts.list()), "not-applied");
// A send that no handler matches: the same service under another name.
const elsewhere = await clientOf(baseUrl.replace("127.0.0.1", "localhost"));
const unmatched = await outcomeOf(elsewhere.emails.send(email));
equal(left, []);
equal(unmatched, "not-applied");
await elsewhere.close();
await takeAway();
equal((await client.emails.send(email)).id, "network");
await client.close();
network.close();
network.closeAllConnections();
