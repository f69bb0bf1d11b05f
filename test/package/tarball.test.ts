import { readdirSync, readFileSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { publint } from "publint";
import ts from "typescript";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import budgets from "../../scripts/budgets.json" with { type: "json" };
import { compiledIn } from "../../tsup.config.ts";
import { root, run, type Scratch, scratch } from "./support/scratch.ts";

let project: Scratch;
let files: readonly string[] = [];
const at = (path: string): string => join(project.installed, path);

beforeAll(async () => {
  project = await scratch();
  files = readdirSync(at("."), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(at(".").length + 1))
    .sort();
});
afterAll(() => project.remove());

test("publint reports nothing, not even a suggestion", async () => {
  const bytes = await readFile(inject("tarball"));
  const tarball = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  // The memory of this Buffer is an ArrayBuffer, which its type does not express.
  const { messages } = await publint({ pack: { tarball: tarball as ArrayBuffer }, strict: true });
  expect(messages).toEqual([]);
});

test("are-the-types-wrong reports nothing for the resolution of Node 16 and later", async () => {
  const attw = join(root, "node_modules/.bin/attw");
  // Older resolution ignores `exports`. The versions of Node with that resolution cannot run the package.
  const args = [inject("tarball"), "--profile", "node16", "--format", "ascii", "--no-definitely-typed"];
  const { code, stdout } = await run(attw, args, project.folder);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('"touchpoint-sdk/sandbox"') });
});

test("the tarball contains the built files and the documents, and nothing else", () => {
  const papers = ["CHANGELOG.md", "LICENSE", "README.md", "THIRD-PARTY-LICENSES.md", "package.json"];
  const readable =
    /^(docs\/(guide\/[\w-]+|errors|migration|runtimes)|skills\/touchpoint-sdk\/(SKILL|references\/\w+))\.md$/;
  const rest = files.filter((file) => !file.startsWith("dist/") && !readable.test(file));
  expect(rest).toEqual(papers);
  const built = /^dist\/([\w-]+\.(c?js(\.map)?|d\.c?ts)|page\/\w+\.(html|css|js|svg))$/;
  expect(files.filter((file) => file.startsWith("dist/") && !built.test(file))).toEqual([]);
});

test("every relative link in a document leads to a file of the tarball", () => {
  const documents = files.filter((file) => file.endsWith(".md") && file !== "THIRD-PARTY-LICENSES.md");
  const links = documents.flatMap((file) => {
    const prose = readFileSync(at(file), "utf8").replace(/```[\s\S]*?```/g, "");
    return [...prose.matchAll(/\]\(([^)\s#]+)/g)].map(([, link = ""]) => ({ file, link }));
  });
  const relative = links.filter(({ link }) => !/^\w+:/.test(link));
  expect(relative.filter(({ file, link }) => !files.includes(join(dirname(file), link)))).toEqual([]);
  expect(new Set(relative.map(({ file }) => file.split("/")[0]))).toEqual(new Set(["README.md", "docs"]));
});

test("no file contains a path of the machine that built it", () => {
  const paths = [root.replace(/\/$/, ""), `${homedir()}/`];
  expect(files.filter((file) => paths.some((path) => readFileSync(at(file), "utf8").includes(path)))).toEqual(
    [],
  );
});

test("every program has a source map that covers our code and compiled-in packages, without their text", () => {
  const programs = files.filter((file) => /^dist\/[\w-]+\.c?js$/.test(file));
  const maps = programs.map((file) => {
    expect(readFileSync(at(file), "utf8").trimEnd()).toMatch(/\/\/# sourceMappingURL=[\w-]+\.c?js\.map$/);
    return JSON.parse(readFileSync(at(`${file}.map`), "utf8"));
  });
  const sources = maps.flatMap((map): string[] => map.sources);
  const allowed = new RegExp(
    `^\\./[\\w-]+\\.cjs$|^\\.\\./(src/|package\\.json$|node_modules/(${compiledIn.join("|")})/)`,
  );
  expect(sources.filter((source) => !allowed.test(source))).toEqual([]);
  expect(sources).toContain("../src/client.ts");
  expect(maps.flatMap(({ sourcesContent = [] }) => sourcesContent)).toEqual([]);
});

test.each(["mjs", "cjs"])("a stack trace contains the file and line of our sources (%s)", async (kind) => {
  const program = `(async () => {
    const { Client } = ${kind === "mjs" ? 'await import("touchpoint-sdk")' : 'require("touchpoint-sdk")'};
    const client = new Client({ apiKey: "k", baseUrl: "http://127.0.0.1:1", maxRetries: 0 });
    const error = await client.contacts.create({ email: "ada@example.com" }).catch((error) => error);
    console.log(error.stack);
    await client.close();
  })();`;
  const { stdout } = await project.node(`stack.${kind}`, program, { NODE_OPTIONS: "--enable-source-maps" });
  const frames = [...stdout.matchAll(/at .*\/(src\/[\w/-]+\.ts):(\d+):/g)].map(([, file = "", line]) => {
    const text = readFileSync(join(root, file), "utf8").split("\n")[Number(line) - 1] ?? "";
    return [file, text.trim()];
  });
  expect(frames[0]).toEqual([
    expect.stringMatching(/^src\/http\//),
    expect.stringContaining("new ConnectionError("),
  ]);
  expect(frames.length).toBeGreaterThanOrEqual(3);
  expect(frames.filter(([, text]) => !/\w\(|await|throw|return/.test(text ?? ""))).toEqual([]);
});

test("touchpoint-sdk/errors is within its budget in a browser, and imports nothing from Node", async () => {
  const { outputFiles } = await build({
    entryPoints: [at("dist/errors.js")],
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    write: false,
  });
  const [{ text } = { text: "" }] = outputFiles;
  console.log(`errors in a browser: ${text.length} bytes`);
  expect(text.length).toBeLessThanOrEqual(budgets.errorsInBrowserBytes);
  expect(text).not.toMatch(/\bimport\b|\brequire\b|node:/);
});

test("a worker's bundle contains no undici, and imports Node's modules only with the node: prefix", async () => {
  const { outputFiles } = await build({
    entryPoints: [at("dist/index.js")],
    bundle: true,
    minify: true,
    format: "esm",
    conditions: ["workerd", "worker", "browser"],
    external: ["node:*"],
    write: false,
  });
  const [{ text, contents } = { text: "", contents: new Uint8Array() }] = outputFiles;
  const kb = [contents.length, gzipSync(contents).length].map((bytes) => Math.round(bytes / 1000));
  console.log(`the root entry in a worker: ${kb[0]} KB, ${kb[1]} KB packed`);
  expect(text).not.toMatch(/WebAssembly|UND_ERR_BODY_TIMEOUT/);
  expect(text).toContain("undici does not run in this runtime");
});

test("the package imports only Node's modules, parts of undici and the declared peers", () => {
  const {
    peerDependencies = {},
    dependencies,
    imports,
  } = JSON.parse(readFileSync(at("package.json"), "utf8"));
  const undiciParts = /^undici\/lib\/[\w/-]+\.js$/;
  const allowed = [...Object.keys(peerDependencies), ...Object.keys(imports), "touchpoint-sdk"];
  const foreign = files
    .filter((file) => /\.(js|cjs|ts|cts)$/.test(file))
    .flatMap((file) =>
      ts
        .preProcessFile(readFileSync(at(file), "utf8"), true, true)
        .importedFiles.map(({ fileName }) => fileName)
        // The parser takes esbuild's `typeof require<"u"` for an import.
        .filter(
          (name) =>
            name !== "u" &&
            !name.startsWith(".") &&
            !isBuiltin(name) &&
            !allowed.includes(name) &&
            !undiciParts.test(name),
        )
        .map((name) => `${file}: ${name}`),
    );
  expect(foreign).toEqual([]);
  expect(dependencies).toEqual({ undici: expect.stringMatching(/^\^7\./) });
});

const sizes = (pattern: RegExp): number =>
  files.filter((file) => pattern.test(file)).reduce((sum, file) => sum + statSync(at(file)).size, 0);

test("the tarball, the installed files, the source maps and the types are within their budgets", () => {
  const kinds = {
    esm: /^dist\/[^/]+\.js$/,
    cjs: /\.cjs$/,
    "d.ts": /\.d\.ts$/,
    "d.cts": /\.d\.cts$/,
    maps: /\.map$/,
    papers: /\.md$/,
    all: /./,
  };
  const kb = Object.entries(kinds).map(([kind, pattern]) => [kind, Math.round(sizes(pattern) / 1000)]);
  console.log(
    `tarball ${Math.round(statSync(inject("tarball")).size / 1000)} KB; installed in KB:`,
    Object.fromEntries(kb),
  );
  for (const kind of ["d.ts", "d.cts"] as const)
    expect(sizes(kinds[kind])).toBeLessThan(budgets.typesKB * 1_000);
  expect(statSync(inject("tarball")).size).toBeLessThan(budgets.tarballKB * 1_000);
  expect(sizes(/\.map$/)).toBeLessThan(budgets.mapsKB * 1_000);
  expect(sizes(/./)).toBeLessThan(budgets.installedKB * 1_000);
  const undici = readdirSync(at("../undici"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
  console.log(`with undici ${Math.round((sizes(/./) + undici) / 1000)} KB`);
  expect(sizes(/./) + undici).toBeLessThan(budgets.installedWithUndiciKB * 1_000);
});
