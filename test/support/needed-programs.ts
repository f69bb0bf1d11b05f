import { accessSync, constants, readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

// A module that starts a program other than Node must have the line `// Needs the program: NAME`. A test file needs the
// programs of its own lines and of all modules that it imports. vitest runs the file only if the PATH has all of them.
const need = /^\/\/ Needs the program: (\S+)$/gm;
const imported = /(?:from|import\()\s*"(\.[^"]+\.ts)"/g;

const isTest = (file: string): boolean => /(^|[\\/])test[\\/]/.test(file);

const textOf = (file: string): string => {
  try {
    return readFileSync(file, "utf8");
  } catch {
    // The match is an import in a test's string, not a file.
    return "";
  }
};

/** The programs that a test file needs. */
export const programsNeededBy = (file: string, seen = new Set<string>()): ReadonlySet<string> => {
  seen.add(file);
  const text = textOf(file);
  const needed = new Set([...text.matchAll(need)].flatMap(([, name]) => name ?? []));
  for (const [, specifier = ""] of text.matchAll(imported)) {
    const path = join(dirname(file), specifier);
    if (!isTest(path) || seen.has(path)) continue;
    for (const name of programsNeededBy(path, seen)) needed.add(name);
  }
  return needed;
};

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** Whether the PATH has a program. */
export const isInstalled = (program: string): boolean =>
  (process.env.PATH ?? "").split(delimiter).some((folder) => isExecutable(join(folder, program)));
