import { posix } from "node:path";
import ts from "typescript";
import { layers, type Rule, stages, vendors } from "./architecture-table.ts";

/** The sources under `src/`, by path relative to the repository, with `/` between the parts. */
export type Sources = ReadonlyMap<string, string>;

interface Import {
  readonly specifier: string;
  readonly isType: boolean;
}

const longestFile = 350;

const matches = (file: string, pattern: string): boolean =>
  pattern.endsWith("/**")
    ? file.startsWith(pattern.slice(0, -2))
    : pattern.endsWith("/*")
      ? posix.dirname(file) === pattern.slice(0, -2)
      : file === pattern;

const layerOf = (file: string): Rule | undefined =>
  layers.find(({ files }) => files.some((pattern) => matches(file, pattern)));

/** Every import of a source: static, re-exported, `import("…")` as value and as type, `require("…")`. */
export const importsOf = (source: string): readonly Import[] =>
  ts.preProcessFile(source, true, true).importedFiles.map(({ fileName, pos }) => ({
    specifier: fileName,
    isType: /\b(import|export)\s+type\b[^;"'`]*$/.test(source.slice(0, pos)),
  }));

const isLocal = (specifier: string): boolean => specifier.startsWith(".");

const targetOf = (file: string, specifier: string): string =>
  posix.join(posix.dirname(file), specifier).replace(/\.js$/, ".ts");

const packageOf = (specifier: string): string =>
  specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");

const ownEntry = (specifier: string): string | undefined => {
  if (specifier === "touchpoint-sdk") return "src/index.ts";
  const entry = /^touchpoint-sdk\/(\w+)$/.exec(specifier)?.[1];
  return entry === undefined ? undefined : `src/${entry}/index.ts`;
};

const allows = (from: Rule, file: string, target: string, isType: boolean): boolean => {
  const to = layerOf(target);
  // If the file is in no layer, another violation reports it.
  if (to === undefined) return true;
  if (to === from) return file === target || from.siblings !== "apart";
  if (from.entries?.includes(target)) return true;
  if (from.below.includes(to.name)) return true;
  return isType && (from.typesOf?.includes(to.name) ?? false);
};

const localViolation = (from: Rule, file: string, target: string, isType: boolean): string | undefined => {
  if (stages.includes(file) && stages.includes(target))
    return `${file}: is a stage and imports the stage ${target}`;
  if (allows(from, file, target, isType)) return undefined;
  return `${file}: imports ${target}, which is not below ${from.name}`;
};

const vendorViolation = (file: string, specifier: string): string | undefined => {
  if (specifier.startsWith("node:")) return undefined;
  const vendor = packageOf(specifier);
  const places = vendors[vendor];
  if (places === undefined) return `${file}: imports ${vendor}, which has no place in the table`;
  if (places.some((place) => matches(file, place))) return undefined;
  return `${file}: imports ${vendor}, which only ${places.join(", ")} may`;
};

const importViolations = (file: string, source: string): readonly string[] => {
  const from = layerOf(file);
  if (from === undefined) return [`${file}: is in no layer of the table`];
  return importsOf(source).flatMap(({ specifier, isType }) => {
    const target = isLocal(specifier) ? targetOf(file, specifier) : ownEntry(specifier);
    const violation =
      target === undefined ? vendorViolation(file, specifier) : localViolation(from, file, target, isType);
    return violation ?? [];
  });
};

const cycles = (files: Sources): readonly string[] => {
  const reports: string[] = [];
  const settled = new Set<string>();
  const visit = (file: string, trail: readonly string[]): void => {
    if (trail.includes(file)) {
      reports.push(`cycle: ${[...trail.slice(trail.indexOf(file)), file].join(" > ")}`);
      return;
    }
    if (settled.has(file)) return;
    for (const { specifier } of importsOf(files.get(file) ?? ""))
      if (isLocal(specifier)) visit(targetOf(file, specifier), [...trail, file]);
    settled.add(file);
  };
  for (const file of files.keys()) visit(file, []);
  return reports;
};

const lengthOf = (source: string): number => source.replace(/\n$/, "").split("\n").length;

/** Lists where the sources violate the table, one line each. */
export const violations = (files: Sources): readonly string[] => [
  ...[...files].flatMap(([file, source]) => importViolations(file, source)),
  ...cycles(files),
  ...[...files]
    .filter(([, source]) => lengthOf(source) > longestFile)
    .map(([file, source]) => `${file}: has ${lengthOf(source)} lines, more than ${longestFile}`),
];
