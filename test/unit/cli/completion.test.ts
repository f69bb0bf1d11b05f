import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { run } from "../../../src/cli/run.ts";

const scriptFor = async (shell: string) => {
  const out: string[] = [];
  const err: string[] = [];
  const code = await run(["completion", shell], {
    stdout: { write: (text) => out.push(text) },
    stderr: { write: (text) => err.push(text) },
    interrupt: new AbortController().signal,
    now: () => 0,
  });
  return { code, script: out.join(""), err: err.join("") };
};

const bash = await scriptFor("bash");

/** What bash offers for the last of the words, when Tab is pressed. */
const offered = (...words: readonly string[]): string[] => {
  const typed = words.map((word) => `'${word}'`).join(" ");
  const press = `COMP_WORDS=(touchpoint ${typed}); COMP_CWORD=${words.length}; _touchpoint; echo "\${COMPREPLY[*]}"`;
  return execFileSync("bash", ["-c", `${bash.script}\n${press}`], { encoding: "utf8" })
    .split(/\s+/)
    .filter(Boolean);
};

describe("bash completes", () => {
  test.each([
    [
      ["contacts", ""],
      ["export", "import", "changes"],
    ],
    [["con"], ["contacts"]],
    [["doctor", "--base"], ["--base-url"]],
    [["contacts", "export", "--res"], ["--resume"]],
    [["events", "ingest", "-", "--che"], ["--checkpoint"]],
    [["contacts", "import", "package.js"], ["package.json"]],
  ])("%j to %j", (words, completions) => {
    expect(offered(...words)).toEqual(completions);
  });
});

test("zsh runs what bash runs", async () => {
  const { script } = await scriptFor("zsh");
  expect(script).toBe(`autoload -U +X compinit bashcompinit && compinit && bashcompinit\n${bash.script}`);
});

test("fish completes every command and option", async () => {
  const { script } = await scriptFor("fish");
  expect(script).toContain(
    "complete -c touchpoint -n '__fish_seen_subcommand_from contacts' -f -a export -d 'Writes every contact to a file, once each, even while others are added and deleted.'\n",
  );
  expect(script).toContain(
    "complete -c touchpoint -n '__fish_seen_subcommand_from contacts; and __fish_seen_subcommand_from export' -l resume -d 'continue a stopped export to this file'\n",
  );
  expect(script).toContain("-l out -s o -r -d ");
});

test("another shell is refused", async () => {
  expect(await scriptFor("tcsh")).toMatchObject({
    code: 2,
    script: "",
    err: expect.stringContaining('touchpoint: there is no completion for "tcsh", only for bash, zsh, fish\n'),
  });
});
