import { afterAll, beforeAll, expect, test } from "vitest";
import { type Scratch, scratch } from "./support/scratch.ts";

let project: Scratch;
beforeAll(async () => {
  project = await scratch();
});
afterAll(() => project.remove());

const esm = `
  import { Client } from "touchpoint-sdk";
  import { createSandbox } from "touchpoint-sdk/sandbox";
`;
const cjs = `
  const { Client } = require("touchpoint-sdk");
  const { createSandbox } = require("touchpoint-sdk/sandbox");
`;
const firstCall = `
  const server = await createSandbox({ apiKeys: ["tp_key"] }).listen({ port: 0 });
  const client = new Client({ apiKey: "tp_key", baseUrl: server.url });
  const { email } = await client.contacts.create({ email: "ada@example.com" });
  const { data, total } = await client.contacts.list();
  console.log(JSON.stringify([email, data.length, total]));
  await client.close();
  await server.close();
`;
const success = { code: 0, stdout: '["ada@example.com",1,1]', stderr: "" };

test("an ES module imports the package and makes a first call", async () => {
  expect(await project.node("first.mjs", esm + firstCall)).toEqual(success);
});

test("a CommonJS module requires the package and makes a first call", async () => {
  expect(await project.node("first.cjs", `${cjs}(async () => {${firstCall}})();`)).toEqual(success);
});

test("the ES and the CommonJS copy work in one process and recognize each other's errors", async () => {
  const program = `
    import * as esm from "touchpoint-sdk";
    import { createRequire } from "node:module";
    import { createSandbox } from "touchpoint-sdk/sandbox";
    const cjs = createRequire(import.meta.url)("touchpoint-sdk");
    const server = await createSandbox({ apiKeys: ["tp_key"] }).listen({ port: 0 });
    const results = [esm.Client === cjs.Client];
    for (const [mine, other] of [[esm, cjs], [cjs, esm]]) {
      const client = new mine.Client({ apiKey: "tp_wrong", baseUrl: server.url });
      const error = await client.contacts.list().catch((error) => error);
      results.push(error.code, other.isTouchpointError(error), error instanceof other.AuthenticationError);
      await client.close();
    }
    results.push(esm.isTouchpointError(new Error("theirs")));
    console.log(JSON.stringify(results));
    await server.close();
  `;
  const results = [false, "authentication_failed", true, false, "authentication_failed", true, false, false];
  expect(await project.node("copies.mjs", program)).toEqual({
    code: 0,
    stdout: JSON.stringify(results),
    stderr: "",
  });
});

test.each([
  ["mjs", `import { Client } from "touchpoint-sdk"; import { createSandbox } from "touchpoint-sdk/sandbox";`],
  ["cjs", cjs],
])("a call through a proxy loads the code for proxies (%s)", async (kind, load) => {
  const program = `
    const { connect } = process.getBuiltinModule("node:net");
    const targets = [];
    const proxy = process.getBuiltinModule("node:http").createServer().on("connect", ({ url }, socket) => {
      targets.push(url);
      const onward = connect(url.split(":")[1], "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 OK\\r\\n\\r\\n");
        socket.pipe(onward).pipe(socket);
      });
    });
    (async () => {
      await new Promise((resolve) => proxy.listen(0, "127.0.0.1", resolve));
      const sandbox = createSandbox({ apiKeys: ["tp_key"] });
      const server = await sandbox.listen({ port: 0, allowedHosts: ["service.localhost"] });
      const client = new Client({
        apiKey: "tp_key",
        baseUrl: "http://service.localhost:" + server.port,
        allowInsecureHttp: true,
        proxy: "http://127.0.0.1:" + proxy.address().port,
      });
      const { total } = await client.contacts.list();
      console.log(total, targets.join() === "service.localhost:" + server.port);
      await client.close();
      await server.close();
      proxy.close();
    })();
  `;
  expect(await project.node(`proxy.${kind}`, load + program)).toEqual({
    code: 0,
    stdout: "0 true",
    stderr: "",
  });
});

test.each([
  ["mjs", esm],
  ["cjs", cjs],
])("many batches need neither timers nor the wall clock (%s)", async (kind, load) => {
  const program = `(async () => {
    const sandbox = createSandbox({ apiKeys: ["tp_key"], limits: false });
    const { fetch } = sandbox;
    const client = new Client({ apiKey: "tp_key", baseUrl: "http://localhost", fetch, limits: false });
    const events = Array.from({ length: 200 }, (_, n) => ({
      name: "page.viewed", contact: { email: "ada@example.com" }, properties: { n },
    }));
    globalThis.setTimeout = () => 0;
    const now = Date.now;
    let backMs = 0;
    Date.now = () => now() - (backMs += 3_600_000);
    console.log((await client.events.ingest(events, { batchSize: 10 })).accepted);
  })();`;
  expect(await project.node(`batches.${kind}`, load + program)).toEqual({
    code: 0,
    stdout: "200",
    stderr: "",
  });
});

const thrownByEntries = `
  const thrown = [
    () => new sdk.Client({ apiKey: "" }),
    () => files.readCsv(1),
    () => redis.redisLimits({}, {}),
    () => sql.sqlLedger(1, {}),
    () => sandbox.createSandbox({ latencyMs: -1 }),
  ].map((make) => {
    try {
      make();
    } catch (error) {
      return [error instanceof sdk.ConfigurationError, error instanceof errors.ConfigurationError];
    }
  });
  const same = Object.keys(errors).filter((name) => name in sdk && errors[name] !== sdk[name]);
  console.log(JSON.stringify([thrown, same]));
`;
const oneClass = { code: 0, stdout: JSON.stringify([Array(5).fill([true, true]), []]), stderr: "" };

test.each([
  ["mjs", (name: string) => `await import(${JSON.stringify(name)})`],
  ["cjs", (name: string) => `require(${JSON.stringify(name)})`],
])("the entries of .%s share one class for each error", async (ending, load) => {
  const entries = ["errors", "files", "redis", "sql", "sandbox"];
  const loads = entries.map((name) => `const ${name} = ${load(`touchpoint-sdk/${name}`)};`);
  const program = `const sdk = ${load("touchpoint-sdk")};\n${loads.join("\n")}\n${thrownByEntries}`;
  expect(await project.node(`classes.${ending}`, program)).toEqual(oneClass);
});
