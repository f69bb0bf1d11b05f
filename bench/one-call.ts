import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { Session } from "node:inspector/promises";
import type { AddressInfo } from "node:net";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import type * as Package from "../src/index.ts";
import { importsOf } from "../test/support/architecture.ts";

// Prints the files and functions of src that one warm `contacts.create` runs through, and how many of the functions have no
// name. Prints the number of rooms of src (its folders, and the files at its root) and of arrows between them (imports,
// including those of types). Prints how many files are fragments: under 60 lines, with one importer.

// Each file is compiled by itself: the wrappers of a TypeScript loader would remove the names of functions.
const root = fileURLToPath(new URL("..", import.meta.url));
const out = realpathSync(mkdtempSync(join(root, "node_modules/.one-call-")));
process.once("exit", () => rmSync(out, { recursive: true }));
const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
const sources = filesIn(join(root, "src")).filter((file) => file.endsWith(".ts") && !file.endsWith(".d.ts"));
await build({ entryPoints: sources, outdir: out, format: "esm", target: "node20", logLevel: "error" });
for (const file of filesIn(out))
  writeFileSync(file, readFileSync(file, "utf8").replaceAll(/("\.[^"\n]+)\.ts"/g, '$1.js"'));
const entry = pathToFileURL(join(out, "index.js")).href;
// esbuild compiled this module from the one that has the type.
const { Client } = (await import(entry)) as typeof Package;

const at = "2026-01-01T00:00:00.000Z";
const contact = {
  ...{ id: "c1", email: "ada@example.com", stage: "NEW", source: "MANUAL", verified: false },
  ...{ customFields: {}, listIds: [], createdAt: at, updatedAt: at },
};
const server = createServer((request, response) => {
  request.resume().on("end", () => {
    // All responses have the same Date: the first response of a new second would run one more function.
    response.writeHead(201, { "content-type": "application/json", date: new Date(at).toUTCString() });
    response.end(JSON.stringify(contact));
  });
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const { port } = server.address() as AddressInfo; // a TCP server's address is no string
const client = new Client({ apiKey: "key", baseUrl: `http://127.0.0.1:${port}` });
const callOften = async (): Promise<void> => {
  for (let call = 0; call < 20; call += 1) await client.contacts.create({ email: "ada@example.com" });
};
// The first calls load the compiled validators in the background. Later calls use them.
await callOften();
await import(pathToFileURL(join(out, "service/compile.js")).href);
await callOften();

const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
await session.post("Profiler.takePreciseCoverage");
await client.contacts.create({ email: "ada@example.com" });
const { result } = await session.post("Profiler.takePreciseCoverage");
session.disconnect();
await client.close();
server.close();

const ran = result
  .filter(({ url }) => url.startsWith("file:") && fileURLToPath(url).startsWith(out))
  .map(({ url, functions }) => ({
    file: relative(out, fileURLToPath(url)),
    names: functions
      .filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
      .map(({ functionName }) => functionName),
  }))
  .filter(({ names }) => names.length > 0);
for (const { file, names } of ran.sort((a, b) => a.file.localeCompare(b.file)))
  console.log(`${file}: ${names.map((name) => name || "(no name)").join(", ")}`);
const all = ran.flatMap(({ names }) => names);
console.log(
  `${ran.length} files, ${all.length} functions, ${all.filter((name) => name === "").length} without a name`,
);

const roomOf = (file: string): string => (dirname(file) === join(root, "src") ? file : dirname(file));
const arrows = sources.flatMap((file) =>
  importsOf(readFileSync(file, "utf8"))
    .filter(({ specifier }) => specifier.startsWith("."))
    .map(({ specifier }) => [roomOf(file), roomOf(join(dirname(file), specifier))] as const)
    .filter(([from, to]) => from !== to)
    .map((ends) => ends.join(" > ")),
);
console.log(
  `${sources.length} files in all, ${new Set(sources.map(roomOf)).size} rooms, ${new Set(arrows).size} arrows`,
);

const importers = new Map<string, number>();
for (const file of sources)
  for (const target of new Set(importsOf(readFileSync(file, "utf8")).map(({ specifier }) => specifier)))
    if (target.startsWith(".")) {
      const imported = join(dirname(file), target);
      importers.set(imported, (importers.get(imported) ?? 0) + 1);
    }
const linesOf = (file: string): number => readFileSync(file, "utf8").split("\n").length - 1;
const fragments = sources.filter((file) => linesOf(file) < 60 && importers.get(file) === 1);
const share = ((100 * fragments.length) / sources.length).toFixed(1);
console.log(
  `${fragments.length} of them (${share} %) are under 60 lines with one importer; ` +
    `${sources.reduce((sum, file) => sum + linesOf(file), 0)} lines in all`,
);
