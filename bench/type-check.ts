// Compares how long tsc checks a program that imports every entry of the package with a program that imports nothing.
//   npm run build && npm run bench:types [-- rounds]
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import manifest from "../package.json" with { type: "json" };
import budgets from "../scripts/budgets.json" with { type: "json" };
import { entry } from "../tsup.config.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const rounds = Number(process.argv[2] ?? 7);

const imports = Object.keys(entry).map((name, index) => {
  const path = name === "index" ? manifest.name : `${manifest.name}/${name}`;
  return `import * as entry${index} from "${path}";\nconsole.log(entry${index});`;
});
const use = `import { Client } from "${manifest.name}";
const client = new Client({ apiKey: "key", baseUrl: "http://127.0.0.1" });
for await (const contact of client.contacts.list()) console.log(contact.email);
console.log(await client.events.record({ name: "order.placed", contact: { email: "ada@example.com" } }));
`;
const programs = { without: "console.log(process.version);\n", with: `${use}${imports.join("\n")}\n` };
const options = {
  strict: true,
  noEmit: true,
  target: "es2022",
  module: "nodenext",
  types: ["node"],
  skipLibCheck: true,
};

mkdirSync(join(root, "tmp"), { recursive: true });
// The folder is inside the repository, so that TypeScript finds Node's types.
const folder = mkdtempSync(join(root, "tmp/type-check-"));
try {
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules", manifest.name));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const check = (name: keyof typeof programs): number => {
    writeFileSync(join(folder, "main.ts"), programs[name]);
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions: options, files: ["main.ts"] }),
    );
    const since = performance.now();
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", folder], { encoding: "utf8" });
    if (status !== 0) throw new Error(`${name}: ${stdout}`);
    return performance.now() - since;
  };
  const times = { without: [] as number[], with: [] as number[] };
  // The programs take turns, so that a busy machine slows both down.
  for (let round = 0; round < rounds; round += 1)
    for (const name of ["without", "with"] as const) times[name].push(check(name));
  const median = (values: readonly number[]): number =>
    values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
  const [without, withUs] = [median(times.without), median(times.with)];
  const ratio = withUs / without;
  console.log(
    `type check: ${Math.round(withUs)} ms, ${Math.round(without)} ms without the package, ratio ${ratio.toFixed(2)}` +
      ` (budget ${budgets.typeCheckRatio}), median of ${rounds}`,
  );
  if (ratio > budgets.typeCheckRatio) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true });
}
