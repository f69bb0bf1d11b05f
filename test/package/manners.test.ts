import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Scratch, scratch } from "./support/scratch.ts";

let project: Scratch;
beforeAll(async () => {
  project = await scratch();
});
afterAll(() => project.remove());

const heavy = ["undici", "ioredis"] as const;

// The bundled files contain the path of each CommonJS module of a vendor.
const vendorsIn = (file: string): readonly string[] => {
  const text = readFileSync(file, "utf8");
  return heavy.filter(
    (vendor) => text.includes(`node_modules/${vendor}/`) || file.includes(`/node_modules/${vendor}/`),
  );
};

interface Coverage {
  readonly result: readonly { readonly url: string }[];
}

/** The vendors that a program loads, according to V8's own list of scripts. */
const vendorsLoadedBy = async (name: string, program: string): Promise<readonly string[]> => {
  const folder = join(project.folder, `loaded-${name}`);
  const { code, stderr } = await project.node(name, program, { NODE_V8_COVERAGE: folder });
  if (code !== 0) throw new Error(`${name}: ${stderr}`);
  const urls = readdirSync(folder).flatMap((file) => {
    // V8 writes this format.
    const { result } = JSON.parse(readFileSync(join(folder, file), "utf8")) as Coverage;
    return result.map(({ url }) => url);
  });
  const files = urls.filter((url) => url.startsWith("file:")).map((url) => fileURLToPath(url));
  expect(files.filter((file) => file.includes("touchpoint-sdk"))).not.toEqual([]);
  return [...new Set(files.flatMap(vendorsIn))].sort();
};

describe("importing the package", () => {
  test("loads neither undici nor ioredis", async () => {
    expect(await vendorsLoadedBy("import.mjs", 'import "touchpoint-sdk";')).toEqual([]);
    expect(await vendorsLoadedBy("require.cjs", 'require("touchpoint-sdk");')).toEqual([]);
  });

  test("loads neither of them from the other entries", async () => {
    const { exports } = JSON.parse(readFileSync(join(project.installed, "package.json"), "utf8"));
    // The entry for OpenTelemetry needs its API, which is not installed here.
    const entries = Object.keys(exports).filter(
      (path) => /^\.\/\w+$/.test(path) && path !== "./opentelemetry",
    );
    expect(entries).toContain("./sandbox");
    const imports = entries.map((path) => `import "touchpoint-sdk${path.slice(1)}";`).join("\n");
    expect(await vendorsLoadedBy("entries.mjs", imports)).toEqual([]);
  });

  test.each([
    ["mjs", 'await import("touchpoint-sdk"); await import("touchpoint-sdk/sandbox");'],
    ["cjs", 'require("touchpoint-sdk"); require("touchpoint-sdk/sandbox");'],
  ])("changes nothing on globalThis (%s)", async (kind, load) => {
    const program = `(async () => {
      // Getters are not called: some globals of Node replace themselves when read.
      const globals = () => new Map(Reflect.ownKeys(globalThis).map((key) =>
        [key, Object.getOwnPropertyDescriptor(globalThis, key)]));
      const parts = ["value", "get", "set", "writable", "enumerable", "configurable"];
      const before = globals();
      ${load}
      const after = globals();
      const changed = [...new Set([...before.keys(), ...after.keys()])].filter((key) => {
        const [was, is] = [before.get(key), after.get(key)];
        return was === undefined || is === undefined || parts.some((part) => !Object.is(was[part], is[part]));
      });
      console.log(JSON.stringify(changed.map(String)), before.size > 50);
    })();`;
    expect(await project.node(`globals.${kind}`, program)).toEqual({
      code: 0,
      stdout: "[] true",
      stderr: "",
    });
  });
});

const served = `
  import { createServer } from "node:http";
  import { Client } from "touchpoint-sdk";
  import { createSandbox } from "touchpoint-sdk/sandbox";
  const server = await createSandbox({ apiKeys: ["tp_key"] }).listen({ port: 0 });
  const client = new Client({ apiKey: "tp_key", baseUrl: server.url });
  const dispatcher = () => globalThis[Symbol.for("undici.globalDispatcher.1")];
  const before = [dispatcher(), globalThis.fetch];
  await client.contacts.create({ email: "ada@example.com" });
`;

test("undici is loaded by the first call", async () => {
  const program = `${served} await client.close(); await server.close();`;
  expect(await vendorsLoadedBy("call.mjs", program)).toContain("undici");
});

test("a first call changes nothing about the host's fetch, which still sends a content-length", async () => {
  const program = `${served}
    const after = [dispatcher(), globalThis.fetch];
    const other = createServer((request, response) => response.end(request.headers["content-length"]));
    await new Promise((listening) => other.listen(0, "127.0.0.1", listening));
    const answer = await fetch("http://127.0.0.1:" + other.address().port, {
      method: "POST", body: "{}", headers: { "content-length": "2", connection: "close" },
    });
    console.log(before.every((value, index) => value === after[index]), await answer.text());
    await client.close();
    await server.close();
    other.close();
  `;
  expect(await project.node("fetch.mjs", program)).toEqual({ code: 0, stdout: "true 2", stderr: "" });
});
