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
const wentWell = { code: 0, stdout: '["ada@example.com",1,1]', stderr: "" };

test("an ES module imports it and makes a first call", async () => {
  expect(await project.node("first.mjs", esm + firstCall)).toEqual(wentWell);
});

test("a CommonJS module requires it and makes a first call", async () => {
  expect(await project.node("first.cjs", `${cjs}(async () => {${firstCall}})();`)).toEqual(wentWell);
});

test("the ES and the CommonJS copy work in one process and know each other's errors", async () => {
  const program = `
    import * as esm from "touchpoint-sdk";
    import { createRequire } from "node:module";
    import { createSandbox } from "touchpoint-sdk/sandbox";
    const cjs = createRequire(import.meta.url)("touchpoint-sdk");
    const server = await createSandbox({ apiKeys: ["tp_key"] }).listen({ port: 0 });
    const told = [esm.Client === cjs.Client];
    for (const [mine, other] of [[esm, cjs], [cjs, esm]]) {
      const client = new mine.Client({ apiKey: "tp_wrong", baseUrl: server.url });
      const error = await client.contacts.list().catch((error) => error);
      told.push(error.code, other.isTouchpointError(error), error instanceof other.AuthenticationError);
      await client.close();
    }
    told.push(esm.isTouchpointError(new Error("theirs")));
    console.log(JSON.stringify(told));
    await server.close();
  `;
  const told = [false, "authentication_failed", true, false, "authentication_failed", true, false, false];
  expect(await project.node("copies.mjs", program)).toEqual({
    code: 0,
    stdout: JSON.stringify(told),
    stderr: "",
  });
});
