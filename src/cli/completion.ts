import type { Command } from "./args.ts";
import { type CliCommand, exitCode, UsageError } from "./command.ts";

const optionsOf = ({ options }: Command): string[] =>
  [...Object.keys(options), "help"].map((name) => `--${name}`);

/** The words that may follow each typed word or pair of words. */
const nextWords = (commands: readonly Command[]): ReadonlyMap<string, ReadonlySet<string>> => {
  const next = new Map<string, Set<string>>();
  const add = (typed: string, word: string): void =>
    void (next.get(typed) ?? next.set(typed, new Set()).get(typed))?.add(word);
  for (const command of commands) {
    const [first = "", second] = command.name.split(" ");
    add("", first);
    if (second !== undefined) add(first, second);
    for (const option of optionsOf(command)) add(command.name, option);
  }
  return next;
};

const bash = (commands: readonly Command[]): string => {
  const cases = [...nextWords(commands)]
    .filter(([typed]) => typed !== "")
    .map(([typed, words]) => `    "${typed}") choices="${[...words].join(" ")}" ;;`);
  const first = [...(nextWords(commands).get("") ?? [])].join(" ");
  return `_touchpoint() {
  local choices="${first}" word="\${COMP_WORDS[COMP_CWORD]}" one="\${COMP_WORDS[1]}" two="\${COMP_WORDS[1]} \${COMP_WORDS[2]}"
  local typed=""
  if [ "$COMP_CWORD" -ge 2 ]; then typed="$one"; fi
  if [ "$COMP_CWORD" -ge 3 ]; then case "$two" in ${commands
    .filter(({ name }) => name.includes(" "))
    .map(({ name }) => `"${name}"`)
    .join("|")}) typed="$two" ;; esac; fi
  case "$typed" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$choices" -- "$word"))
  if [ "\${#COMPREPLY[@]}" -eq 0 ]; then COMPREPLY=($(compgen -f -- "$word")); fi
}
complete -o filenames -F _touchpoint touchpoint
`;
};

const fish = (commands: readonly Command[]): string => {
  const quoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const lines = commands.flatMap(({ name, about, options }) => {
    const [first = "", second] = name.split(" ");
    const summary = quoted(about.split("\n", 1)[0] ?? "");
    const seen = [first, second]
      .filter((word) => word !== undefined)
      .map((word) => `__fish_seen_subcommand_from ${word}`)
      .join("; and ");
    const word =
      second === undefined
        ? `complete -c touchpoint -n __fish_use_subcommand -f -a ${first} -d ${summary}`
        : `complete -c touchpoint -n __fish_use_subcommand -f -a ${first}\n` +
          `complete -c touchpoint -n '__fish_seen_subcommand_from ${first}' -f -a ${second} -d ${summary}`;
    const flags = Object.entries(options).map(
      ([option, { type, short, about: told }]) =>
        `complete -c touchpoint -n '${seen}' -l ${option}${short === undefined ? "" : ` -s ${short}`}${type === "string" ? " -r" : ""} -d ${quoted(told.split("\n", 1)[0] ?? "")}`,
    );
    return [word, ...flags];
  });
  return `${lines.join("\n")}\n`;
};

const scripts: Readonly<Record<string, (commands: readonly Command[]) => string>> = {
  bash,
  // zsh can run bash completions.
  zsh: (commands) => `autoload -U +X compinit bashcompinit && compinit && bashcompinit\n${bash(commands)}`,
  fish,
};

/** `touchpoint completion`: prints a shell script that completes commands and options. */
export const completionOf = (commands: () => readonly CliCommand[]): CliCommand => ({
  shape: {
    name: "completion",
    about:
      "Prints a completion script for bash, zsh or fish.\n" +
      'bash, zsh: eval "$(touchpoint completion bash)" in .bashrc or .zshrc; fish: touchpoint completion fish | source',
    operands: ["<shell>"],
    options: {},
  },
  run: async ({ operands: [shell = ""], stdout }) => {
    const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined;
    if (script === undefined)
      throw new UsageError(
        `there is no completion for "${shell}", only for ${Object.keys(scripts).join(", ")}`,
      );
    stdout.write(script(commands().map(({ shape }) => shape)));
    return exitCode.ok;
  },
  afterInterrupt: () => "Nothing was changed.",
});
