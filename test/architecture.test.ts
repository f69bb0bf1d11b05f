import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { importsOf, type Sources, violations } from "./support/architecture.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

const readSources = (): Sources => {
  const names = readdirSync(join(root, "src"), { recursive: true, withFileTypes: true });
  const paths = names.filter((name) => name.isFile()).map((name) => join(name.parentPath, name.name));
  return new Map(
    paths.map((path) => [relative(root, path).split(sep).join("/"), readFileSync(path, "utf8")]),
  );
};

const files = readSources();

test("src follows the rules for layers, vendors and file length", () => {
  expect(violations(files)).toEqual([]);
});

describe("planted in src, this is reported:", () => {
  const known = violations(files);
  // The code is added to the first line, so that the file does not become longer.
  const plant = (file: string, code: string): readonly string[] =>
    violations(new Map([...files, [file, `${code} ${files.get(file) ?? ""}`]])).filter(
      (violation) => !known.includes(violation),
    );

  test("an upward import", () => {
    expect(plant("src/errors.ts", 'import { planted } from "./options/options.ts";')).toContain(
      "src/errors.ts: imports src/options/options.ts, which is not below errors",
    );
  });

  test("an upward import of a type", () => {
    expect(plant("src/service/lists.ts", 'import type { Call } from "../call/executor.ts";')).toContain(
      "src/service/lists.ts: imports src/call/executor.ts, which is not below service",
    );
  });

  test("an upward dynamic import", () => {
    expect(plant("src/runtime/clock.ts", 'const planted = () => import("../client.ts");')).toContain(
      "src/runtime/clock.ts: imports src/client.ts, which is not below runtime",
    );
  });

  test.each([
    ["p-retry", "src/http/auth.ts", 'import retry from "p-retry";'],
    ["bottleneck", "src/bulk/source-run.ts", 'import Limiter from "bottleneck";'],
    ["undici", "src/options/options.ts", 'import type { Dispatcher } from "undici";'],
    ["undici", "src/client.ts", 'const agent = () => import("undici/lib/dispatcher/agent.js");'],
    ["ioredis", "src/rate-limit/permits.ts", 'import type { Redis } from "ioredis";'],
    ["zod", "src/call/executor.ts", 'export * from "zod/mini";'],
    ["msw", "src/index.ts", 'type Handler = import("msw").HttpHandler;'],
  ])("a second importer of %s", (vendor, file, code) => {
    expect(plant(file, code)).toEqual([
      expect.stringMatching(`^${file}: imports ${vendor}, which only src/.* may$`),
    ]);
  });

  test("a vendor that the table does not list", () => {
    expect(plant("src/call/executor.ts", 'import { merge } from "@planted/merge/deep";')).toEqual([
      "src/call/executor.ts: imports @planted/merge, which has no place in the table",
    ]);
  });

  test.each(["src/planted.ts", "src/planted/file.ts", "src/paging/planted/file.ts"])(
    "the file %s, which the table does not list",
    (file) => {
      expect(plant(file, "")).toEqual([`${file}: is in no layer of the table`]);
    },
  );

  test("a resource that imports http", () => {
    expect(plant("src/resources/planted.ts", 'import type { Send } from "../http/types.ts";')).toEqual([
      "src/resources/planted.ts: imports src/http/types.ts, which is not below resources",
    ]);
  });

  test("a resource that imports another", () => {
    expect(plant("src/resources/planted.ts", 'import { events } from "./events.ts";')).toContain(
      "src/resources/planted.ts: imports src/resources/events.ts, which is not below resources",
    );
  });

  test("a stage that imports a stage", () => {
    expect(plant("src/http/auth.ts", 'import { retry } from "./retry.ts";')).toContain(
      "src/http/auth.ts: is a stage and imports the stage src/http/retry.ts",
    );
  });

  test("a cycle of imports, even of types only", () => {
    const a = 'import type { B } from "./planted-b.ts";';
    const b = 'import type { A } from "./planted-a.ts";';
    expect(
      violations(
        new Map([...files, ["src/service/planted-a.ts", a], ["src/service/planted-b.ts", b]]),
      ).filter((violation) => !known.includes(violation)),
    ).toEqual(["cycle: src/service/planted-a.ts > src/service/planted-b.ts > src/service/planted-a.ts"]);
  });

  test("client code in the sandbox", () => {
    expect(plant("src/sandbox/planted.ts", 'import { createCall } from "../call/executor.ts";')).toEqual([
      "src/sandbox/planted.ts: imports src/call/executor.ts, which is not below sandbox",
    ]);
  });

  test("a value import of fleet in redis", () => {
    expect(plant("src/redis/planted.ts", 'import { grant } from "../fleet/grant.ts";')).toEqual([
      "src/redis/planted.ts: imports src/fleet/grant.ts, which is not below redis",
    ]);
    expect(plant("src/redis/planted.ts", 'import type { Place } from "../fleet/place.ts";')).toEqual([]);
  });

  test("an internal file of an entry in the command line", () => {
    expect(plant("src/cli/planted.ts", 'import { state } from "../sandbox/state.ts";')).toEqual([
      "src/cli/planted.ts: imports src/sandbox/state.ts, which is not below cli",
    ]);
    expect(plant("src/cli/planted.ts", 'import { Client } from "../index.ts";')).toEqual([]);
    expect(plant("src/cli/planted.ts", 'import { Client } from "touchpoint-sdk";')).toEqual([]);
  });

  test("a file of 351 lines", () => {
    expect(plant("src/service/planted.ts", "\n".repeat(350))).toEqual([
      "src/service/planted.ts: has 351 lines, more than 350",
    ]);
  });
});

test("imports in comments and strings do not count", () => {
  const source = `
    // import { a } from "./a.ts";
    /* export * from "./b.ts"; */
    const text = 'import "./c.ts"', page = \`<script type="module">import "./d.ts"</script>\`;
    export { e } from "./e.ts";
    import type { F } from "./f.ts";
  `;
  expect(importsOf(source)).toEqual([
    { specifier: "./e.ts", isType: false },
    { specifier: "./f.ts", isType: true },
  ]);
});

/** Participles are not names: a name is a noun for what the thing is, not for what happened to it. */
const retiredNames = ["asked", "told", "untold", "unasked", "found", "given", "known", "held"];

/** The names that a file declares. Private names have no `#` here. */
const declaredIn = (path: string, text: string): readonly string[] => {
  const names: string[] = [];
  const visit = (node: ts.Node): void => {
    const { name }: { name?: ts.Node } = node as ts.NamedDeclaration;
    if (name !== undefined && (ts.isIdentifier(name) || ts.isPrivateIdentifier(name)))
      names.push(name.text.replace(/^#/, ""));
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest));
  return names;
};

test("src declares no retired name", () => {
  const declared = [...files].flatMap(([path, text]) =>
    path.endsWith(".ts") ? declaredIn(path, text).map((name) => ({ path, name })) : [],
  );
  expect(declared.length).toBeGreaterThan(2_000);
  expect(declared.filter(({ name }) => retiredNames.includes(name))).toEqual([]);
});
