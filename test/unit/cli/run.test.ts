import { afterEach, describe, expect, test, vi } from "vitest";
import { version } from "../../../package.json";
import { readArgs } from "../../../src/cli/args.ts";
import { commands, run } from "../../../src/cli/run.ts";
import { createSandbox } from "../../../src/sandbox/index.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

const type = (line: string) => runLine(line.split(" "));

const nowhere = {
  ...{ TOUCHPOINT_API_KEY: "", TOUCHPOINT_BASE_URL: "http://127.0.0.1:1" },
  ...{ FORCE_COLOR: undefined, NO_COLOR: undefined, TERM: "xterm" },
};

const runLine = async (
  words: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
  isTTY = false,
) => {
  for (const [name, value] of Object.entries({ ...nowhere, ...env })) vi.stubEnv(name, value);
  const out: string[] = [];
  const err: string[] = [];
  const code = await run(words, {
    stdout: { write: (text) => out.push(text) },
    stderr: { isTTY, write: (text) => err.push(text) },
    interrupt: new AbortController().signal,
    now: () => 0,
  });
  return { code, out: out.join(""), err: err.join("") };
};

describe("run", () => {
  test("--version is that of the package", async () => {
    expect(await type("--version")).toEqual({ code: 0, out: `${version}\n`, err: "" });
  });

  test("help goes to standard output and names every command", async () => {
    const { code, out, err } = await type("--help");
    const commands = ["sandbox", "contacts export", "contacts import", "events ingest"];
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(commands.filter((command) => !out.includes(`\n  ${command}  `))).toEqual([]);
    const rows = out.split("\n").filter((line) => line.startsWith("  "));
    expect(rows.filter((row) => !row.endsWith("."))).toEqual([]);
  });

  test.each([
    ["a terminal", {}, true, true],
    ["a terminal, NO_COLOR", { NO_COLOR: "1" }, true, false],
    ["a terminal without colors", { TERM: "dumb" }, true, false],
    ["a pipe", {}, false, false],
    ["a pipe, FORCE_COLOR", { FORCE_COLOR: "1" }, false, true],
    ["a terminal, FORCE_COLOR=0", { FORCE_COLOR: "0" }, true, false],
  ])("on %s %j an error is colored: %s, %s", async (_, env, isTTY, isColored) => {
    const { err } = await runLine(["contacts", "export", "--out", "\u001b[31m.xlsx"], env, isTTY);
    expect(err.startsWith("\u001b[31mtouchpoint:\u001b[39m \\u001b[31m.xlsx: ")).toBe(isColored);
    expect(err.startsWith("touchpoint: \\u001b[31m.xlsx: ")).toBe(!isColored);
  });

  test("an unknown command is wrong usage", async () => {
    expect(await type("contact export")).toMatchObject({ code: 2, out: "" });
  });

  test("an option that cannot be is wrong usage, and help is offered", async () => {
    expect(await type("contacts export --out a.xlsx")).toEqual({
      code: 2,
      out: "",
      err:
        "touchpoint: a.xlsx: the file name must end in .csv, .tsv, .txt or .ndjson, optionally followed by .gz\n" +
        "Run `touchpoint contacts export --help` for details.\n",
    });
  });

  test("a missing key is wrong usage, and the message says where it comes from", async () => {
    expect(await type("events ingest a.ndjson")).toMatchObject({
      code: 2,
      err: expect.stringContaining("apiKey is missing: set TOUCHPOINT_API_KEY, or in code the option apiKey"),
    });
  });

  test.each(["contacts --help", "contacts -h", "help contacts"])("%s lists the commands", async (line) => {
    const { code, out, err } = await type(line);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(/contacts export .*\n.*contacts import /);
  });

  test("--help of a command tells the exit codes", async () => {
    const { out } = await type("contacts import --help");
    expect(out).toContain(
      "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 done but some records were rejected or something differs, 130 interrupted.",
    );
  });

  test.each(["0", "fast", "1e3"])("--limits %s is wrong usage", async (times) => {
    expect(await type(`events ingest a.ndjson --limits ${times}`)).toMatchObject({
      code: 2,
      err: expect.stringContaining(`--limits must be a number above 0, or off, got "${times}"`),
    });
  });

  test.each(["EPIPE", "ENOSPC"])(
    "%s of another file is not taken for one of standard output",
    async (code) => {
      const [first] = commands;
      if (first === undefined) throw new Error("there is no command");
      const failure = Object.assign(new Error(`${code}, write`), { code, syscall: "write" });
      vi.spyOn(first, "run").mockRejectedValueOnce(failure);
      expect(await type(first.name)).toMatchObject({ code: 1, err: `touchpoint: ${code}, write\n` });
    },
  );

  test("an error's text reaches the terminal as one harmless line", async () => {
    const { code, err } = await runLine(["ledger", "show", "none\u001b]0;x\u0007\n\u202e.ledger", "key"]);
    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringContaining("there is no file none\\u001b]0;x\\u0007\\u000a\\u202e.ledger\n"),
    });
  });

  test("a taken port, a service that is not there and a refused key are told with the next step", async () => {
    const { url, close } = await createSandbox({ apiKeys: ["another"] }).listen();
    const { port } = new URL(url);
    const at = (baseUrl: string, words: readonly string[]) =>
      runLine(words, { TOUCHPOINT_API_KEY: "key", TOUCHPOINT_BASE_URL: baseUrl });
    const doctor = ["doctor", "--limits", "off"];
    expect((await at(url, ["sandbox", "--port", port])).err).toContain(
      "Choose another one with --port, or use --port 0",
    );
    expect((await at(url, doctor)).err).toContain("\nCheck the key in TOUCHPOINT_API_KEY.\n");
    await close();
    expect((await at(url, ["contacts", "export", "--out", "-", "--limits", "off"])).err).toContain(
      "\nCheck TOUCHPOINT_BASE_URL, or run `touchpoint sandbox` to start a local sandbox.\n",
    );
  });

  test("limits of a sandbox are a factor or off, its latency is milliseconds, and its file is there", async () => {
    expect((await type("sandbox --limits fast")).err).toContain("--limits must be a number above 0, or off");
    expect((await type("sandbox --latency soon")).code).toBe(2);
    expect((await type("sandbox --load none.json")).err).toContain("sandbox.load: none.json: ENOENT");
  });
});

test.each([
  [
    "--rejected ./none.ndjson",
    "--rejected and the input must be different files, but both are ./none.ndjson",
  ],
  [
    "--checkpoint none.ndjson",
    "--checkpoint and the input must be different files, but both are none.ndjson",
  ],
  ["--checkpoint a --rejected ./a", "--rejected and --checkpoint must be different files, but both are ./a"],
])("one file is not taken for two: %s", async (options, problem) => {
  const { code, err } = await runLine(["events", "ingest", "none.ndjson", ...options.split(" ")], {
    TOUCHPOINT_API_KEY: "tp_live_canary",
  });
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(problem) });
});

test.each([
  [["ledger", "migration", "postgres", "--ledger", "a b"], "ledger must be a name of letters, digits and _"],
  [["sandbox", "--key", "a b"], "apiKeys[0] must be a string without blanks"],
])("what a setup refuses is wrong usage: %s", async (words, problem) => {
  expect(await runLine(words)).toMatchObject({ code: 2, err: expect.stringContaining(problem) });
});

test("the help of every command shows one example", () => {
  expect(commands.filter(({ example }) => example === undefined)).toEqual([]);
});

test("every option that a help shows is read", () => {
  const unread = commands.flatMap((command) => {
    const words = [...command.name.split(" "), ...command.operands.map(() => "operand")];
    return Object.keys(command.options).filter((shown) => {
      const [flag = "", value] = shown
        .replace(/^-\w, /, "")
        .replace(/\.\.\.$/, "")
        .split(" ");
      const asked = readArgs(commands, [...words, flag, ...(value === undefined ? [] : ["value"])]);
      const name = flag.replace("--", "");
      return (
        asked.kind !== "run" ||
        (value === undefined ? !asked.flags.has(name) : !(asked.values[name] ?? asked.lists[name]))
      );
    });
  });
  expect(unread).toEqual([]);
});
