// What dist/ contains of others: the list for machines, and the licenses for people.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundled } from "./vendors.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  readonly license: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version?: string; readonly integrity?: string }>>;
}

// Both are npm's own files, whose shape it guarantees.
const read = <T>(path: string): T => JSON.parse(readFileSync(join(root, path), "utf8")) as T;

/** The packages to which files belong. */
const packagesOf = (files: readonly string[]): string[] => {
  const names = files.flatMap((file) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []);
  return [...new Set(names)].sort();
};

const purl = ({ name, version }: Manifest): string => `pkg:npm/${name.replace("@", "%40")}@${version}`;

const component = (manifest: Manifest) => ({
  type: "library",
  "bom-ref": purl(manifest),
  name: manifest.name,
  version: manifest.version,
  ...(manifest.description === undefined ? {} : { description: manifest.description }),
  licenses: [{ license: { id: manifest.license } }],
  purl: purl(manifest),
});

/** The tarball that was installed, by the hash in the lock file. */
const hashesOf = ({ name, version }: Manifest, lock: Lock): readonly object[] => {
  const locked = lock.packages[`node_modules/${name}`];
  const base64 = /^sha512-(.+)$/.exec(locked?.integrity ?? "")?.[1];
  if (locked?.version !== version || base64 === undefined)
    throw new Error(`${name} ${version} is installed, and not what package-lock.json names: run npm ci`);
  return [{ alg: "SHA-512", content: Buffer.from(base64, "base64").toString("hex") }];
};

/** A CycloneDX 1.6 document of what was compiled from these files. It holds no time and no serial number: a build repeats it. */
export const sbomOf = (files: readonly string[]): object => {
  const own = read<Manifest>("package.json");
  const lock = read<Lock>("package-lock.json");
  const contained = packagesOf(files).map((name) => read<Manifest>(`node_modules/${name}/package.json`));
  const refsIn = (names: Readonly<Record<string, string>> = {}): string[] =>
    contained.filter(({ name }) => name in names).map(purl);
  const inner = contained.map((manifest) => ({
    ref: purl(manifest),
    dependsOn: refsIn(manifest.dependencies),
  }));
  const broughtAlong = new Set(inner.flatMap(({ dependsOn }) => dependsOn));
  const direct = contained.map(purl).filter((ref) => !broughtAlong.has(ref));
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: component(own) },
    components: contained.map((manifest) => ({
      ...component(manifest),
      scope: "required",
      hashes: hashesOf(manifest, lock),
      // The name that CycloneDX registers for packages that another package contains.
      properties: [{ name: "cdx:npm:package:bundled", value: "true" }],
    })),
    dependencies: [{ ref: purl(own), dependsOn: direct }, ...inner],
    // Nothing else is in the files; what Node and the optional peers bring is not part of the package.
    compositions: [{ aggregate: "complete", assemblies: [purl(own)] }],
  };
};

/** The file that `npm run generate` writes. */
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

if (process.argv[1] === import.meta.filename) writeFileSync(licensesFile, licenses());
