import { parseArgs } from "node:util";
import { suggestion } from "../runtime/nearest-name.ts";
import { messageOf } from "../runtime/values.ts";
import { shellWord, visible } from "./terminal.ts";

export interface Command {
  /** One or two words, as the user types them: `contacts export`. */
  readonly name: string;
  readonly about: string;
  /** A complete command line to copy. */
  readonly example?: string;
  /** `<file>` is required, `[file]` is optional. */
  readonly operands: readonly string[];
  readonly options: Options;
}

/**
 * The options of a command, as the help shows them: `{ "-o, --out <path>": "the file to write" }`. An option with an
 * ellipsis can be repeated: `--map <column=field>...`.
 */
export type Options = Readonly<Record<string, string>>;

/** The values of the options on the command line, keyed by option name without dashes. */
export type OptionValues = Readonly<Record<string, string | undefined>>;

/** A parsed command line. The text of `wrong` explains the problem and shows the usage. */
export type Invocation<C extends Command> =
  | {
      readonly kind: "run";
      readonly command: C;
      readonly values: OptionValues;
      /** The values of the options that can be repeated, keyed by option name without dashes. */
      readonly lists: Readonly<Record<string, readonly string[]>>;
      /** The options without a value that are on the command line. */
      readonly flags: ReadonlySet<string>;
      readonly operands: readonly string[];
    }
  | { readonly kind: "version" }
  | { readonly kind: "help" | "wrong"; readonly text: string };

const help: Options = { "-h, --help": "this help" };

const parsedOptions = ({ options }: Command) =>
  Object.fromEntries(
    Object.keys({ ...options, ...help }).map((flags) => {
      const [, short, name = "", value, list] = /^(?:-(\w), )?--([\w-]+)( <.+>)?(\.\.\.)?$/.exec(flags) ?? [];
      const type = value === undefined ? ("boolean" as const) : ("string" as const);
      return [name, { type, multiple: list !== undefined, ...(short !== undefined && { short }) }];
    }),
  );

/** Breaks text at spaces, and indents every line except the first by `indent` spaces. */
const wrapped = (text: string, width: number, indent = 0): string => {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? "";
    if (line !== "" && indent + line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines.join(`\n${" ".repeat(indent)}`);
};

const table = (rows: readonly (readonly [string, string])[], width: number): string => {
  const left = Math.max(...rows.map(([name]) => name.length));
  const cell = (about: string): string =>
    about
      .split("\n")
      .map((line) => wrapped(line, width, left + 4))
      .join(`\n${" ".repeat(left + 4)}`);
  return rows.map(([name, about]) => `  ${name.padEnd(left)}  ${cell(about)}`).join("\n");
};

const usage = ({ name, operands }: Command): string =>
  ["touchpoint", name, ...operands, "[options]"].join(" ");

const exitCodes =
  "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 done but some records were rejected or something differs, 130 interrupted.";

const commandHelp = (command: Command, width: number): string =>
  [
    `${usage(command)}\n\n${Number.isFinite(width) ? wrapped(command.about.replaceAll("\n", " "), width) : command.about}\n`,
    ...(command.example === undefined ? [] : [`Example: ${command.example}\n`]),
    table(
      Object.entries({ ...command.options, ...help }).map(([flags, about]) => [
        flags.startsWith("--") ? `    ${flags}` : flags,
        about,
      ]),
      width,
    ),
    "",
    wrapped(exitCodes, width),
  ].join("\n");

const overview = (commands: readonly Command[], width: number): string =>
  [
    "touchpoint <command> [options]\n",
    table(
      commands.map(({ name, about }) => [name, about.split("\n", 1)[0] ?? ""]),
      width,
    ),
    `\n${wrapped("Set TOUCHPOINT_API_KEY to the API key and TOUCHPOINT_BASE_URL to the address of the service.", width)}`,
    "Run `touchpoint <command> --help` for the options of a command.",
    "",
    wrapped(exitCodes, width),
  ].join("\n");

const wrong = (problem: string, hint: string) => ({
  kind: "wrong" as const,
  text: `touchpoint: ${visible(problem)}\n${hint}`,
});

const parseOptions = (command: Command, args: readonly string[]) => {
  const options = parsedOptions(command);
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    const message = messageOf(error).replaceAll("\n", " ");
    // The message of parseArgs continues with advice about positional arguments, which is no help here.
    const problem = message.split(". To specify")[0] ?? "";
    const unknown = /^Unknown option '(--[^']+)'/.exec(problem)?.[1];
    if (unknown === undefined) return { problem };
    const names = Object.keys(options).map((name) => `--${name}`);
    return { problem: problem + suggestion(unknown, names) };
  }
};

/**
 * Parses a command line.
 *
 * @param argv - the arguments after the program's name.
 * @param width - the columns of the terminal. Without it, the help is not wrapped.
 */
export const readArgs = <C extends Command>(
  commands: readonly C[],
  argv: readonly string[],
  width = Number.POSITIVE_INFINITY,
): Invocation<C> => {
  const [first] = argv;
  if (first === "--version") return { kind: "version" };
  const command = commands.find(({ name }) => name.split(" ").every((word, index) => argv[index] === word));
  if (command === undefined) {
    const isHelp = argv.some((word) => ["help", "--help", "-h"].includes(word));
    if (first === undefined || isHelp) return { kind: "help", text: overview(commands, width) };
    const names = commands.map(({ name }) => name);
    const words = argv.slice(0, 2).join(" ");
    // `contacts` alone is no command, but two words like `contacts list` are one name.
    const isGroup = names.some((name) => name.startsWith(`${first} `));
    const typed = isGroup ? words : first;
    const hint = suggestion(words, names) || (isGroup ? "" : suggestion(first, names));
    return wrong(
      `there is no command "${typed}"${hint}`,
      "Run `touchpoint --help` for the list of commands.",
    );
  }
  const parsed = parseOptions(command, argv.slice(command.name.split(" ").length));
  const hint = `Usage: ${usage(command)}`;
  if ("problem" in parsed) return wrong(parsed.problem, hint);
  const { values, positionals } = parsed;
  if (values.help) return { kind: "help", text: commandHelp(command, width) };
  const missing = command.operands.find((name, index) => name.startsWith("<") && index >= positionals.length);
  if (missing !== undefined) return wrong(`${missing} is missing`, hint);
  const extra = positionals[command.operands.length];
  if (extra !== undefined) {
    const hasOut = Object.keys(command.options).some((flags) => flags.includes("--out <"));
    const way = hasOut ? `. To name the file, use --out ${shellWord(extra)}.` : "";
    return wrong(`"${extra}" is one argument too many${way}`, hint);
  }
  const entries = Object.entries(values);
  return {
    kind: "run",
    command,
    values: Object.fromEntries(
      entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"),
    ),
    lists: Object.fromEntries(
      entries.flatMap(([name, list]) => (Array.isArray(list) ? [[name, list.map(String)]] : [])),
    ),
    flags: new Set(entries.flatMap(([name, value]) => (value === true ? name : []))),
    operands: positionals,
  };
};
