import { Transform, type Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";

export interface Output {
  /** Of standard output, a promise that rejects if the text could not be written: await it. */
  write(text: string): unknown;
}

/** The output for progress and errors, such as `process.stderr`: standard output is for records. */
export interface Terminal extends Output {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

// C0, DEL and C1, what ends a line, and what reorders or hides text: a terminal acts on them.
const acting = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

// Of four digits, so that escaped JSON is the same JSON.
const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Text of others for one line of a terminal: a line break in it starts no line. */
export const visible = (text: string): string => text.replaceAll(acting, escaped);

/** Lines for a terminal: all but their line breaks is made visible. */
export const visibleLines = (text: string): string =>
  text.replaceAll(acting, (character) => (character === "\n" ? character : escaped(character)));

/** A writable that makes lines visible on a terminal; a pipe or file gets them as they are. */
export const visibleOn = (out: Writable & { readonly isTTY?: boolean }): Writable => {
  if (!out.isTTY) return out;
  const decoder = new StringDecoder();
  const lines = new Transform({
    transform: (chunk: Buffer, _, done) => done(null, visibleLines(decoder.write(chunk))),
    flush: (done) => done(null, visibleLines(decoder.end())),
  });
  lines.pipe(out, { end: false });
  return lines;
};

const codes = { red: 31, cyan: 36 } as const;

/** Colors text if the stream shows colors: `FORCE_COLOR` and `NO_COLOR` decide first, as in Node itself. */
export const colored = (color: keyof typeof codes, text: string, out: Terminal): string => {
  const { FORCE_COLOR: forced, NO_COLOR: none, TERM } = process.env;
  const shows = forced === undefined ? !none && out.isTTY === true && TERM !== "dumb" : forced !== "0";
  return shows ? `\u001b[${codes[color]}m${text}\u001b[39m` : text;
};

const octal = (character: string): string =>
  [...Buffer.from(character)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");

/** A word for a POSIX shell; with control characters in the form `$'…'`, so that the word can be copied. */
export const shellWord = (text: string): string => {
  if (/^[\w@%+:,./-]+$/.test(text)) return text;
  if (visible(text) === text) return `'${text.replaceAll("'", "'\\''")}'`;
  return `$'${text.replaceAll(/[\\']/g, "\\$&").replaceAll(acting, octal)}'`;
};
