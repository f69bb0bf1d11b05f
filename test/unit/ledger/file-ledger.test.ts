import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { ConfigurationError } from "../../../src/errors.ts";
import { fileLedger } from "../../../src/ledger/file-ledger.ts";
import type { Ledger, LedgerRow } from "../../../src/ledger/ledger.ts";
import { betweenSync } from "../../support/between-sync.ts";
import { scratchFile } from "./scratch-file.ts";
import { watchSyncs } from "./watch-files.ts";

const recordsIn = (path: string): Record<string, unknown>[] =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line.startsWith("{") && line.endsWith("}"))
    .map((line) => JSON.parse(line));

const rowsOf = async (ledger: Ledger): Promise<LedgerRow[]> => {
  const rows: LedgerRow[] = [];
  for await (const row of ledger.list()) rows.push(row);
  return rows;
};

const send = async (ledger: Ledger, key: string): Promise<string> => {
  const claim = await ledger.claim(key, "f");
  if (claim.state === "claimed") {
    await ledger.settle(key, "sent", { claim: claim.claim, receipt: { id: key } });
  }
  return claim.state;
};

test("another ledger on the same file knows every key and every receipt", async () => {
  const path = scratchFile();
  const [here, there] = [fileLedger(path), fileLedger(path)];
  await there.claim("before", "f");
  await send(here, "welcome:1");
  await here.claim("welcome:2", "g");
  expect(await there.claim("welcome:1", "f")).toEqual({
    state: "sent",
    fingerprint: "f",
    since: expect.any(Number),
    receipt: { id: "welcome:1" },
  });
  expect(await there.claim("welcome:2", "g")).toMatchObject({ state: "pending", fingerprint: "g" });
});

test("the key is in the file when a claim resolves", async () => {
  const path = scratchFile();
  await fileLedger(path).claim("welcome:1", "f");
  expect(recordsIn(path)).toMatchObject([{ touchpointLedger: 1 }, { key: "welcome:1", fingerprint: "f" }]);
});

test("only the owner may read the file", async () => {
  const path = scratchFile();
  await fileLedger(path).claim("welcome:1", "f");
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("an empty file becomes readable by its owner only", async () => {
  const path = scratchFile();
  writeFileSync(path, "");
  chmodSync(path, 0o644);
  await fileLedger(path).claim("welcome:1", "f");
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("only one of many ledgers that claim a key at once gets it", async () => {
  const path = scratchFile();
  const claims = await Promise.all(
    Array.from({ length: 12 }, () => fileLedger(path).claim("welcome:1", "f")),
  );
  expect(claims.filter(({ state }) => state === "claimed")).toHaveLength(1);
});

test("ledgers that free and claim keys at the same time give each key to one at a time", async () => {
  const path = scratchFile();
  const held = new Set<string>();
  const work = async (ledger: Ledger): Promise<void> => {
    for (let round = 0; round < 40; round += 1) {
      const key = `welcome:${round % 3}`;
      const claim = await ledger.claim(key, "f");
      if (claim.state !== "claimed") continue;
      expect(held.has(key)).toBe(false);
      held.add(key);
      await Promise.resolve();
      held.delete(key);
      expect(await ledger.settle(key, "not-sent", { claim: claim.claim })).toBe(true);
    }
  };
  await Promise.all(Array.from({ length: 5 }, () => work(fileLedger(path))));
});

test("get and settle create no file", async () => {
  const path = scratchFile();
  const ledger = fileLedger(path);
  expect(await ledger.get("welcome:1")).toBeUndefined();
  expect(await ledger.settle("welcome:1", "sent")).toBe(false);
  expect(await ledger.release("welcome:1")).toBe(false);
  for await (const row of ledger.list()) expect(row).toBeUndefined();
  expect(existsSync(path)).toBe(false);
  expect(await send(ledger, "welcome:1")).toBe("claimed");
});

test("the name of a new file is on disk before anything in it counts, once, and no file is left open", async () => {
  const path = scratchFile();
  const ledger = fileLedger(path);
  const { synced, leftOpen } = watchSyncs();
  await ledger.claim("welcome:1", "f");
  expect(synced).toEqual(["directory", "ledger", "ledger"]);
  await ledger.claim("welcome:2", "f");
  expect(synced.slice(3)).toEqual(["ledger"]);
  expect(leftOpen()).toBe(0);
});

describe("behind a symbolic link", () => {
  test("whose target is not there yet, all who use it use one file, made where the link points", async () => {
    const target = scratchFile();
    const link = scratchFile("link.ledger");
    symlinkSync(target, link);
    const [here, there] = [fileLedger(link), fileLedger(link)];
    await here.claim("welcome:0", "f");
    for (let key = 0; key < 50; key += 1) await send(here, `welcome:${key}`);
    expect(await send(there, "welcome:49")).toBe("sent");
    expect(await send(fileLedger(target), "welcome:49")).toBe("sent");
  });

  test("that points elsewhere later, it is refused", async () => {
    const [one, other] = [scratchFile(), scratchFile()];
    const link = scratchFile("link.ledger");
    symlinkSync(one, link);
    const ledger = fileLedger(link);
    await send(ledger, "welcome:1");
    await send(fileLedger(other), "welcome:2");
    rmSync(link);
    symlinkSync(other, link);
    await expect(ledger.claim("welcome:1", "f")).rejects.toThrow(ConfigurationError);
  });
});

test("a relative path is that of the directory in which the ledger was made", async () => {
  const path = scratchFile();
  const before = process.cwd();
  onTestFinished(() => process.chdir(before));
  process.chdir(dirname(path));
  const ledger = fileLedger("once.ledger");
  process.chdir(before);
  await ledger.claim("welcome:1", "f");
  expect(existsSync(path)).toBe(true);
});

describe("cut short by a crash", () => {
  const cut = {
    "a line that a killed process left unfinished": '\n{"key":"welcome:2","claim":"x","finge',
    "a line of which only the beginning is there": "\n{",
    "zeros that a power cut left": "\0".repeat(40),
    "a line that ends in zeros": `\n{"key":"welc${"\0".repeat(9)}`,
    "a line of which only the last byte is a zero":
      '\n{"key":"welcome:2","claim":"x","fingerprint":"f","since":1}\0',
  };

  test.each(Object.entries(cut))("%s is passed over, then and later", async (_what, text) => {
    const path = scratchFile();
    await send(fileLedger(path), "welcome:1");
    appendFileSync(path, text);
    const ledger = fileLedger(path);
    expect(await send(ledger, "welcome:2")).toBe("claimed");
    expect(await send(ledger, "welcome:1")).toBe("sent");
    appendFileSync(path, text);
    for (const key of ["welcome:1", "welcome:2"]) expect(await send(fileLedger(path), key)).toBe("sent");
    expect((await rowsOf(fileLedger(path))).map(({ key }) => key)).toEqual(["welcome:2", "welcome:1"]);
  });

  test("several such lines in a row are passed over", async () => {
    const path = scratchFile();
    await send(fileLedger(path), "welcome:1");
    appendFileSync(path, '\n{"key":"wel\n{"key":"welc');
    expect(await send(fileLedger(path), "welcome:2")).toBe("claimed");
    expect(await send(fileLedger(path), "welcome:1")).toBe("sent");
  });

  test("a file that was being made can be used", async () => {
    const path = scratchFile();
    writeFileSync(path, '\n{"touchpointLed');
    expect(await send(fileLedger(path), "welcome:1")).toBe("claimed");
    expect(await send(fileLedger(path), "welcome:1")).toBe("sent");
  });
});

describe("damaged", () => {
  /** A ledger of three keys, and what became of it. */
  const damaged = async (damage: (lines: string[]) => string): Promise<string> => {
    const path = scratchFile();
    for (const key of ["welcome:1", "welcome:2", "welcome:3"]) await send(fileLedger(path), key);
    writeFileSync(path, damage(readFileSync(path, "utf8").split("\n")));
    return path;
  };
  const at = (line: number, change: (text: string) => string) => (lines: string[]) =>
    lines.map((text, index) => (index + 1 === line ? change(text) : text)).join("\n");
  const whole = (text: string): string => text.replace("{", "(");
  const damages: Readonly<Record<string, readonly [damage: (lines: string[]) => string, line: number]>> = {
    "a line in the middle that is no JSON": [at(6, whole), 6],
    "a line in the middle that was cut": [at(6, (text) => text.slice(0, 30)), 6],
    "a cut line among lines without empty ones between": [
      (lines) => at(3, (text) => text.slice(0, 30))(lines.filter((line) => line !== "")),
      2,
    ],
    "a line in the middle that holds zeros": [at(6, (text) => `\0${text.slice(1)}`), 6],
    "a line break that is another byte": [
      (lines) => lines.toSpliced(5, 2, `${lines[5]}\u001f`).join("\n"),
      6,
    ],
    "the last line, whole and no JSON": [at(14, whole), 14],
    "lines taken out of the middle": [(lines) => lines.toSpliced(3, 4).join("\n"), 4],
    "its first line gone": [(lines) => lines.toSpliced(0, 2).join("\n"), 2],
    "a line of another program": [(lines) => `${lines.join("\n")}\n{"level":"info"}\n`, 16],
  };

  test.each(Object.entries(damages))(
    "by %s, it is refused by file and line",
    async (_what, [damage, line]) => {
      const path = await damaged(damage);
      const content = readFileSync(path, "utf8");
      const sentence = `ledger ${path} cannot be used: line ${line} `;
      for (const ledger of [fileLedger(path), fileLedger(path)]) {
        await expect(ledger.claim("welcome:2", "f")).rejects.toThrow(sentence);
        await expect(ledger.claim("welcome:4", "f")).rejects.toThrow(ConfigurationError);
        await expect(ledger.get("welcome:2")).rejects.toThrow(sentence);
      }
      expect(readFileSync(path, "utf8")).toBe(content);
    },
  );

  test("it is repaired by blanks in place of the line", async () => {
    const path = await damaged(at(6, (text) => " ".repeat(text.length)));
    const states = ["welcome:1", "welcome:2"].map(async (key) => (await fileLedger(path).get(key))?.state);
    expect(await Promise.all(states)).toEqual(["pending", "sent"]);
  });

  test("the list tells the line too, when it comes to it", async () => {
    const path = await damaged(at(6, whole));
    await expect(rowsOf(fileLedger(path))).rejects.toThrow(`ledger ${path} cannot be used: line 6 `);
  });
});

describe("no longer what it was while it is in use", () => {
  const changes: Readonly<Record<string, (path: string, older: string) => void>> = {
    "cut to nothing": (path) => truncateSync(path),
    "cut in the middle": (path) => truncateSync(path, 300),
    "put back from an older copy": (path, older) => writeFileSync(path, older),
    "replaced by an older copy that others have gone on with": (path, older) => {
      writeFileSync(path, older);
      appendFileSync(
        path,
        `\n${JSON.stringify({ key: "x".repeat(900), fingerprint: "f", since: 0, claim: "c" })}\n`,
      );
    },
    "replaced by another ledger": (path, older) => {
      writeFileSync(`${path}.other`, older.replace(/"id":"[^"]*"/, '"id":"another"').repeat(1));
      renameSync(`${path}.other`, path);
    },
    deleted: (path) => rmSync(path),
  };

  test.each(Object.entries(changes))("%s, it is refused until it is restored", async (_what, change) => {
    const path = scratchFile();
    const ledger = fileLedger(path);
    await send(ledger, "welcome:1");
    const older = readFileSync(path, "utf8");
    await send(ledger, "welcome:2");
    const whole = readFileSync(path, "utf8");
    change(path, older);
    const after = existsSync(path) ? readFileSync(path, "utf8") : undefined;
    for (const key of ["welcome:2", "welcome:3"]) {
      await expect(ledger.claim(key, "f")).rejects.toThrow(`ledger ${path} cannot be used`);
      await expect(ledger.settle(key, "not-sent")).rejects.toThrow(ConfigurationError);
    }
    expect(existsSync(path) ? readFileSync(path, "utf8") : undefined).toBe(after);
    writeFileSync(path, whole);
    expect(await send(ledger, "welcome:2")).toBe("sent");
    expect(await send(ledger, "welcome:3")).toBe("claimed");
  });

  test("replaced in the middle of a claim, the claim fails and is written once", async () => {
    const path = scratchFile();
    const ledger = fileLedger(path);
    await send(ledger, "welcome:1");
    const whole = readFileSync(path, "utf8");
    let isReplaced = false;
    betweenSync((original) => (fd, callback) => {
      if (!isReplaced) {
        writeFileSync(`${path}.copy`, whole);
        renameSync(`${path}.copy`, path);
      }
      isReplaced = true;
      original(fd, callback);
    });
    await expect(ledger.claim("welcome:2", "f")).rejects.toThrow("another program replaced the file");
    expect(readFileSync(path, "utf8")).toBe(whole);
    await expect(ledger.claim("welcome:2", "f")).rejects.toThrow(
      "another program shortened the file: it had at least",
    );
    expect(await send(fileLedger(path), "welcome:2")).toBe("claimed");
  });
});

const strangers: readonly [string, string][] = [
  ["a list of addresses", "email,name\nada@example.com,Ada\n"],
  ["another program's JSON", '{"version":1,"done":3,"last":null}\n'],
  ["a ledger of a later version", '{"touchpointLedger":2,"id":"x"}\n'],
  ["a file without a line break", '{"name":"config"}'],
  ["a first line of which more is to come", '{"touchpointLedger":1,"id":"x"},'],
  ["a ledger without its first line", '\n{"key":"a","fingerprint":"f","since":0,"claim":"c"}\n'],
];

test.each(strangers)("a file that holds %s is refused and left alone", async (_what, content) => {
  const path = scratchFile();
  writeFileSync(path, content);
  const claim = fileLedger(path).claim("welcome:1", "f");
  await expect(claim).rejects.toThrow(ConfigurationError);
  await expect(claim).rejects.toThrow(`ledger ${path} cannot be used`);
  expect(readFileSync(path, "utf8")).toBe(content);
});

test("a claim of which the disk may have kept the line fails, and its key is free again", async () => {
  const path = scratchFile();
  const ledger = fileLedger(path);
  await ledger.claim("welcome:1", "f");
  let hasFailed = false;
  betweenSync((original) => (fd, callback) => {
    if (hasFailed) original(fd, callback);
    else callback(new Error("EIO"));
    hasFailed = true;
  });
  await expect(ledger.claim("welcome:2", "f")).rejects.toMatchObject({
    message: `ledger ${path} cannot be used: EIO`,
    outcome: "not-applied",
  });
  expect(recordsIn(path).at(-2)).toMatchObject({ key: "welcome:2", fingerprint: "f" });
  expect(await fileLedger(path).claim("welcome:2", "g")).toMatchObject({ state: "claimed" });
});

test("a ledger that failed works again once its file does", async () => {
  const path = scratchFile("missing/once.ledger");
  const ledger = fileLedger(path);
  await expect(ledger.claim("welcome:1", "f")).rejects.toMatchObject({
    code: "configuration_invalid",
    outcome: "not-applied",
  });
  mkdirSync(dirname(path));
  expect(await send(ledger, "welcome:1")).toBe("claimed");
});
