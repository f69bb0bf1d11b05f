import { Writable } from "node:stream";

export interface Output {
  /** For standard output, returns a promise that rejects if the text could not be written. Await it. */
  write(text: string): unknown;
}

/** The output for progress and errors, such as `process.stderr`. Standard output is for records. */
export interface Terminal extends Output {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** A count for people: `1,500,000`. */
export const grouped = (count: number): string => count.toLocaleString("en-US");

// Characters that a terminal acts on: C0, DEL, C1, line ends, and characters that reorder or hide text.
const controls = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

// Four digits, so that escaped JSON stays equivalent JSON.
const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Escapes foreign text for one line of a terminal: line breaks are escaped, too. */
export const visible = (text: string): string => text.replaceAll(controls, escaped);

/** Escapes lines for a terminal: all control characters except line breaks. */
export const visibleLines = (text: string): string =>
  text.replaceAll(controls, (character) => (character === "\n" ? character : escaped(character)));

/** A writable that escapes lines for a terminal. A pipe or a file gets them unchanged. */
export const visibleOn = (out: Writable & { readonly isTTY?: boolean }): Writable => {
  if (!out.isTTY) return out;
  // The writers of files pass complete lines, so no character is split between two chunks.
  return new Writable({
    write: (chunk: Buffer, _, done) => void out.write(visibleLines(chunk.toString()), done),
  });
};

const codes = { red: 31, cyan: 36 } as const;

/** Colors text if the stream supports colors. `FORCE_COLOR` and `NO_COLOR` take precedence, as in Node itself. */
export const colored = (color: keyof typeof codes, text: string, out: Terminal): string => {
  const { FORCE_COLOR: forced, NO_COLOR: none, TERM } = process.env;
  const shows = forced === undefined ? !none && out.isTTY === true && TERM !== "dumb" : forced !== "0";
  return shows ? `\u001b[${codes[color]}m${text}\u001b[39m` : text;
};

const octal = (character: string): string =>
  [...Buffer.from(character)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");

/** Quotes a word for a POSIX shell. A word with control characters gets the form `$'…'`, so that it can be copied. */
export const shellWord = (text: string): string => {
  if (/^[\w@%+:,./-]+$/.test(text)) return text;
  if (visible(text) === text) return `'${text.replaceAll("'", "'\\''")}'`;
  return `$'${text.replaceAll(/[\\']/g, "\\$&").replaceAll(controls, octal)}'`;
};
