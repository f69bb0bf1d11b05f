import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** An own directory for one test, gone after it. */
export const scratch = () => {
  const directory = mkdtempSync(join(tmpdir(), "touchpoint-files-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const path = (name: string): string => join(directory, name);
  return {
    path,
    names: (): string[] => readdirSync(directory).sort(),
    put: (name: string, content: string | Uint8Array): string => {
      writeFileSync(path(name), content);
      return path(name);
    },
    text: (name: string): string => readFileSync(path(name), "utf8"),
  };
};

/** Everything an async iterable yields. */
export const gather = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const gathered: T[] = [];
  for await (const item of items) gathered.push(item);
  return gathered;
};

/** A text as a source that gives these bytes or characters at a time. */
export async function* inPieces(
  whole: string | Uint8Array,
  size: number,
): AsyncGenerator<string | Uint8Array> {
  for (let at = 0; at < whole.length; at += size) yield whole.slice(at, at + size);
}

/** A system gives the lowest descriptor that is free, so this tells whether one was taken or given back. */
export const freeDescriptor = (): number => {
  const descriptor = openSync(tmpdir(), "r");
  closeSync(descriptor);
  return descriptor;
};
