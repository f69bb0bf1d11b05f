import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { Client } from "../../src/index.ts";
import type { Dispatcher } from "../../src/options/fetch.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

interface Frame {
  readonly name: string;
  readonly file: string;
}

/** The frames of `src` that led here, outermost first. */
const framesOf = (stack: string): readonly Frame[] =>
  stack
    .split("\n")
    .flatMap((line) => {
      const [, name = "", path = ""] =
        /^\s+at (?:async )?(?:([^(]+) \()?(?:file:\/\/)?([^():]+):\d+:\d+\)?$/.exec(line) ?? [];
      const file = relative(root, path);
      return file.startsWith("src/") ? [{ name: name.trim(), file }] : [];
    })
    .reverse();

let frames: readonly Frame[] = [];

beforeAll(async () => {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 50;
  const stacks: string[] = [];
  // Refuses every connection, and remembers who asked for it.
  const dispatcher: Dispatcher = {
    dispatch: () => {
      stacks.push(new Error("asked").stack ?? "");
      throw Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
    },
  };
  const client = new Client({ apiKey: "key", baseUrl: "https://service.test", maxRetries: 0, dispatcher });
  const create = () => client.contacts.create({ email: "ada@example.com" }).catch(() => undefined);
  // The first call loads the transport; the second is what every later one is like.
  await create();
  await create();
  await client.close();
  Error.stackTraceLimit = limit;
  frames = framesOf(stacks[1] ?? "");
});

test("the stack of a call names every stage, from the method to the transport", () => {
  const stages = ["retryStage", "rateLimit", "observeStage", "redactStage", "authStage"];
  const names = frames.map(({ name }) => name.replace(/^.*\./, ""));
  expect(names).not.toContain("");
  expect(names.filter((name) => stages.includes(name))).toEqual(stages);
  expect(names[0]).toBe("create");
});

test("the files of one call in CONTRIBUTING.md are those that run", () => {
  const text = readFileSync(new URL("../../CONTRIBUTING.md", import.meta.url), "utf8");
  const [, section = ""] = /\n## How one call runs\n(.*?)\n## /s.exec(text) ?? [];
  const told = [...section.matchAll(/^\d+\. `(src\/[\w/.-]+)`/gm)].map(([, file]) => file);
  const ran = [...new Set(frames.map(({ file }) => file))];
  // The client only holds the methods: no frame of its own.
  expect(told.length).toBeGreaterThan(8);
  expect(told.filter((file) => file !== "src/client.ts")).toEqual(ran);
});

/** The frames of an error, innermost first: the name of a function, or where one has none the place. */
const namesOf = ({ stack = "" }: Error): readonly string[] =>
  [...stack.matchAll(/^\s+at (?:async )?(?:new )?(?:\w+\.#)?(.+?)(?: \(.*\))?$/gm)].map(
    ([, name = ""]) => name,
  );

test("the stack of a call that waits when the client is closed leads to the line that made it", async () => {
  const fetch = () => new Promise<Response>(() => undefined);
  const limits = { requests: { max: 1, windowMs: 10_000 } };
  const client = new Client({ apiKey: "key", baseUrl: "https://closed.service.test", fetch, limits });
  async function saveAda(): Promise<void> {
    await client.contacts.create({ email: "ada@example.com" });
  }
  const calls = [saveAda(), saveAda()].map((call) => call.catch((error: Error) => error));
  await client.close({ graceMs: 0 });
  const errors = (await Promise.all(calls)).filter((error) => error instanceof Error);
  expect(errors.map((error) => namesOf(error).includes("saveAda"))).toEqual([true, true]);
});

test.each([
  ["no response", () => Promise.reject(new Error("refused"))],
  ["a status", async () => Response.json({ error: "no such contact" }, { status: 404 })],
  ["an answer without a record", async () => Response.json(3)],
])("the stack of a call that fails by %s leads to the line that made it", async (_cause, fetch) => {
  const client = new Client({ apiKey: "key", baseUrl: "https://service.test", maxRetries: 0, fetch });
  async function saveAda(): Promise<void> {
    await client.contacts.create({ email: "ada@example.com" });
  }
  async function saveAll(): Promise<void> {
    await saveAda();
  }
  const error = await saveAll().then(
    () => new Error("it did not fail"),
    (failure: Error) => failure,
  );
  await client.close();
  const names = namesOf(error);
  expect(names.filter((name) => name === "exchange" || name.startsWith("save"))).toEqual([
    "exchange",
    "saveAda",
    "saveAll",
  ]);
  expect(names.filter((name) => name.includes("/src/") || name.includes("<anonymous>"))).toEqual([]);
});
