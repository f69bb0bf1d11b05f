/** A fenced block of a Markdown text. */
export interface Block {
  /** The language after the opening fence: `ts`, `sh`; empty if there is none. */
  readonly language: string;
  /** The line of the opening fence, counted from 1. */
  readonly line: number;
  readonly code: string;
  /** Marked by `<!-- continues -->`: it continues the previous `ts` block. */
  readonly continues: boolean;
  /** Marked by `<!-- types only -->`: it needs something that test machines lack, or it only exports. */
  readonly typesOnly: boolean;
}

/** Blocks that run as one program: the first block, and the blocks that continue it. */
export interface Program {
  readonly line: number;
  readonly typesOnly: boolean;
  readonly code: string;
}

const fence = /^( *)(`{3,})\s*(\S*)/;

const closes = (line: string, ticks: string): boolean => {
  const text = line.trim();
  return text.startsWith(ticks) && /^`+$/.test(text);
};

/**
 * Lists the fenced blocks of a Markdown text in order.
 *
 * @throws Error when a fence is never closed.
 */
export const blocksOf = (markdown: string): readonly Block[] => {
  const blocks: Block[] = [];
  const lines = markdown.split(/\r?\n/);
  let mark = "";
  for (let at = 0; at < lines.length; at++) {
    const [, indent = "", ticks, language = ""] = fence.exec(lines[at] ?? "") ?? [];
    if (ticks === undefined) {
      const text = (lines[at] ?? "").trim();
      if (text !== "") mark = text;
      continue;
    }
    const end = lines.findIndex((line, index) => index > at && closes(line, ticks));
    if (end === -1) throw new Error(`line ${at + 1}: this fence is never closed`);
    const code = lines
      .slice(at + 1, end)
      .map((line) => line.replace(new RegExp(`^ {0,${indent.length}}`), ""));
    blocks.push({
      language,
      line: at + 1,
      code: code.join("\n"),
      continues: mark === "<!-- continues -->",
      typesOnly: mark === "<!-- types only -->",
    });
    mark = "";
    at = end;
  }
  return blocks;
};

/**
 * Joins each `ts` block with those that continue it.
 *
 * @throws Error when there is no block to continue.
 */
export const programsOf = (blocks: readonly Block[]): readonly Program[] => {
  const programs: Program[] = [];
  for (const { language, line, code, continues, typesOnly } of blocks) {
    if (language !== "ts") {
      if (continues) throw new Error(`line ${line}: only a ts block can continue another`);
      continue;
    }
    const before = continues ? programs.pop() : undefined;
    if (continues && before === undefined) throw new Error(`line ${line}: there is no block to continue`);
    programs.push(
      before === undefined ? { line, code, typesOnly } : { ...before, code: `${before.code}\n${code}` },
    );
  }
  return programs;
};

/** The commands that a document may use. */
export interface Commands {
  readonly scripts: readonly string[];
  readonly bins: readonly string[];
  /** The packages that the documents tell a reader to install. */
  readonly packages: readonly string[];
}

const isKnown = (line: string, { scripts, bins, packages }: Commands): boolean => {
  const [program, verb, argument] = line.split(/\s+/);
  if (program === "npx") return bins.includes(verb ?? "");
  // The guide to warehouses uses psql, and a test runs these commands.
  if (program === "psql") return true;
  if (program !== "npm") return false;
  if (verb === "run") return scripts.includes(argument ?? "");
  if (verb === "test") return scripts.includes("test");
  if (verb === "install") return packages.includes(argument ?? "") && !/\s-/.test(line);
  return line === "npm ci";
};

/** The lines of `sh` blocks that are not commands of this package, with their line numbers. */
export const unknownCommands = (blocks: readonly Block[], commands: Commands): readonly string[] =>
  blocks
    .filter(({ language }) => language === "sh")
    .flatMap(({ line, code }) =>
      code
        .split("\n")
        .map((text, index) => ({ text: text.replace(/\s+#.*$/, "").trim(), line: line + 1 + index }))
        .filter(({ text }) => text !== "" && !text.startsWith("#") && !isKnown(text, commands))
        .map(({ text, line }) => `line ${line}: ${text}`),
    );
