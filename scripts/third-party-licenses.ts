import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { bundled } from "./bundled.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The file that `npm run licenses` writes. */
export const licensesFile = join(root, "THIRD-PARTY-LICENSES.md");

const section = (name: string): string => {
  const folder = join(root, "node_modules", name);
  const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const paper = readdirSync(folder).find((file) => /^licen[cs]e(\.\w+)?$/i.test(file));
  if (paper === undefined) throw new Error(`${name} ${version} ships no license text`);
  const text = readFileSync(join(folder, paper), "utf8").replaceAll("\r\n", "\n").trim();
  return `## ${name} ${version} (${license})\n\n\`\`\`text\n${text}\n\`\`\`\n`;
};

/** The license text of every package that is compiled into `dist/`, in the versions installed. */
export const licenses = (): string =>
  [
    "# Third-party licenses\n",
    "The package's files contain the following packages, under these licenses.\n",
    ...[...bundled].sort().map(section),
  ].join("\n");

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) writeFileSync(licensesFile, licenses());
