import { execFileSync } from "node:child_process";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { shellWord, visible, visibleLines, visibleOn } from "../../../src/cli/terminal.ts";

// Sets the clipboard, clears the screen, fakes a line, reverses the text.
const hostile = "a\u001b]52;c;YQ==\u0007\u001b[2J\rfake\n2\u009b31m\u202e\u2066\u2028\u007fé";

test("text of others shows its control and bidi characters, and stays on its line", () => {
  expect(visible(hostile)).toBe(
    "a\\u001b]52;c;YQ==\\u0007\\u001b[2J\\u000dfake\\u000a2\\u009b31m\\u202e\\u2066\\u2028\\u007fé",
  );
  expect(visibleLines("one\ntwo\u001b")).toBe("one\ntwo\\u001b");
});

test("JSON with visible characters is the same JSON", () => {
  expect(JSON.parse(visibleLines(`${JSON.stringify({ hostile })}\n`))).toEqual({ hostile });
});

test.each([
  "plain/file.ledger",
  '$(touch pwned) `id` "$HOME" it\'s !1',
  "-rf",
  "~root =ls",
  "",
  "\\033 and \\n stay",
  hostile,
])("a shell reads %j as it was", (word) => {
  const read = execFileSync("bash", ["-c", `printf %s ${shellWord(word)}`], { encoding: "utf8" });
  expect(read).toBe(word);
});

test("a word for a shell shows its control characters too", () => {
  expect(visible(shellWord(hostile))).toBe(shellWord(hostile));
});

test("a terminal gets an export with visible characters, a pipe gets its bytes", async () => {
  const [terminal, pipe] = [Object.assign(new PassThrough(), { isTTY: true }), new PassThrough()];
  expect(visibleOn(pipe)).toBe(pipe);
  const shown = text(terminal);
  const out = visibleOn(terminal);
  out.end(Buffer.from("é\u001b\n"));
  out.once("close", () => terminal.end());
  expect(await shown).toBe("é\\u001b\n");
});
