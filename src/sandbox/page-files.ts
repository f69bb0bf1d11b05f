import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The content types of the workbench page's files, by extension. The files are served unchanged; the build copies them.
 */
const types: Readonly<Record<string, string>> = {
  html: "text/html",
  css: "text/css",
  js: "text/javascript",
  svg: "image/svg+xml",
};

/** Reads a file of the page; undefined if no file has this name. */
export const pageFile = async (name: string) => {
  const type = types[/^[\w-]+\.(\w+)$/.exec(name)?.[1] ?? ""];
  if (type === undefined) return undefined;
  // The CommonJS build has no import.meta, and the ESM build no __filename.
  const here = typeof __filename === "string" ? __filename : fileURLToPath(import.meta.url);
  const content = await readFile(join(dirname(here), "page", name)).catch(() => undefined);
  return content && { type: `${type}; charset=utf-8`, content };
};
