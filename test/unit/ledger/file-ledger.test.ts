import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { ConfigurationError } from "../../../src/errors.ts";
import { fileLedger } from "../../../src/ledger/file-ledger.ts";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import { scratchFile } from "./scratch-file.ts";

const recordsIn = (path: string): Record<string, unknown>[] =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line.startsWith("{") && line.endsWith("}"))
    .map((line) => JSON.parse(line));

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

test("of many ledgers that claim one key at once, one gets it", async () => {
  const path = scratchFile();
  const claims = await Promise.all(
    Array.from({ length: 12 }, () => fileLedger(path).claim("welcome:1", "f")),
  );
  expect(claims.filter(({ state }) => state === "claimed")).toHaveLength(1);
});

test("ledgers that shorten the file under each other's hands send every key once", async () => {
  const path = scratchFile();
  const ledgers = Array.from({ length: 5 }, () => fileLedger(path, { compactAfter: 1 }));
  const keys = Array.from({ length: 30 }, (_, index) => `welcome:${index}`);
  const states = await Promise.all(
    ledgers.map(async (ledger) => {
      const seen: [string, string][] = [];
      for (const key of keys) seen.push([key, await send(ledger, key)]);
      return seen;
    }),
  );
  const claimed = states.flat().filter(([, state]) => state === "claimed");
  expect(claimed.map(([key]) => key).sort()).toEqual([...keys].sort());
  expect(await Promise.all(keys.map((key) => send(fileLedger(path), key)))).toEqual(keys.map(() => "sent"));
}, 60_000);

test("a long file is replaced by one with a line per key", async () => {
  const path = scratchFile();
  const ledger = fileLedger(path, { compactAfter: 10 });
  for (let round = 0; round < 4; round += 1) {
    const claim = await ledger.claim("refused", "f");
    if (claim.state === "claimed") await ledger.settle("refused", "not-sent", { claim: claim.claim });
  }
  await ledger.claim("pending", "f");
  await send(ledger, "sent");
  await send(ledger, "later");
  const before = recordsIn(path);
  expect(before.map((record) => record.key ?? "first line")).toEqual([
    "first line",
    "pending",
    "sent",
    "later",
    "later",
  ]);
  expect(await fileLedger(path).claim("pending", "f")).toMatchObject({ state: "pending" });
  expect(await fileLedger(path).claim("sent", "f")).toMatchObject({ receipt: { id: "sent" } });
  expect(readdirSync(dirname(path))).toEqual(["once.ledger"]);
});

test("a line that a killed process left unfinished is passed over", async () => {
  const path = scratchFile();
  await send(fileLedger(path), "welcome:1");
  appendFileSync(path, '\n{"key":"welcome:2","claim":"x","finge');
  const ledger = fileLedger(path);
  expect(await ledger.claim("welcome:2", "f")).toMatchObject({ state: "claimed" });
  expect(await send(fileLedger(path), "welcome:1")).toBe("sent");
});

test("zeros that a power cut left at the end are passed over", async () => {
  const path = scratchFile();
  await send(fileLedger(path), "welcome:1");
  appendFileSync(path, "\0".repeat(40));
  expect(await send(fileLedger(path), "welcome:2")).toBe("claimed");
  expect(await send(fileLedger(path), "welcome:2")).toBe("sent");
});

test("a process killed while it made the file leaves one that can be used", async () => {
  const path = scratchFile();
  writeFileSync(path, '\n{"touchpointLed');
  expect(await send(fileLedger(path), "welcome:1")).toBe("claimed");
  expect(await send(fileLedger(path), "welcome:1")).toBe("sent");
});

test("a seal whose maker was killed before the exchange is lifted, and its half-made file taken away", async () => {
  const path = scratchFile();
  await send(fileLedger(path), "welcome:1");
  writeFileSync(`${path}.s1.tmp`, "half");
  appendFileSync(path, '\n{"seal":"s1"}\n');
  expect(await send(fileLedger(path), "welcome:2")).toBe("claimed");
  expect(existsSync(`${path}.s1.tmp`)).toBe(false);
  expect(await send(fileLedger(path), "welcome:1")).toBe("sent");
  expect(await send(fileLedger(path), "welcome:2")).toBe("sent");
});

test("what was written behind a seal does not count", async () => {
  const path = scratchFile();
  await send(fileLedger(path), "welcome:1");
  appendFileSync(path, '\n{"seal":"s1"}\n');
  appendFileSync(path, '\n{"key":"welcome:2","claim":"late","fingerprint":"f","since":0}\n');
  expect(await fileLedger(path).claim("welcome:2", "f")).toMatchObject({ state: "claimed" });
});

test("a ledger goes on in the file that took the old one's place", async () => {
  const path = scratchFile();
  const ledger = fileLedger(path);
  await send(ledger, "welcome:1");
  const other = scratchFile();
  await send(fileLedger(other), "welcome:2");
  renameSync(other, path);
  expect(await send(ledger, "welcome:2")).toBe("sent");
  expect(await send(ledger, "welcome:1")).toBe("claimed");
});

test("a file that was deleted is begun anew", async () => {
  const path = scratchFile();
  const ledger = fileLedger(path);
  await send(ledger, "welcome:1");
  rmSync(path);
  expect(await send(ledger, "welcome:1")).toBe("claimed");
  expect(await send(fileLedger(path), "welcome:1")).toBe("sent");
});

test("behind a link, the file itself is shortened", async () => {
  const path = scratchFile();
  await send(fileLedger(path), "welcome:0");
  const link = `${path}.link`;
  symlinkSync(path, link);
  const ledger = fileLedger(link, { compactAfter: 1 });
  for (const key of ["welcome:1", "welcome:2"]) await send(ledger, key);
  expect(await send(fileLedger(path), "welcome:2")).toBe("sent");
  expect(await send(fileLedger(link), "welcome:2")).toBe("sent");
});

const strangers: readonly [string, string][] = [
  ["a list of addresses", "email,name\nada@example.com,Ada\n"],
  ["another program's JSON", '{"version":1,"done":3,"last":null}\n'],
  ["a ledger of a later version", '{"touchpointLedger":2,"id":"x"}\n'],
  ["a file without a line break", '{"name":"config"}'],
  ["a first line of which more is to come", '{"touchpointLedger":1,"id":"x"},'],
  ["a ledger without its first line", '{"unseal":"x"}\n'],
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
  const file = await open(path);
  const sync = vi.spyOn(Object.getPrototypeOf(file), "sync").mockRejectedValueOnce(new Error("EIO"));
  onTestFinished(() => sync.mockRestore());
  await file.close();
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

test("a ledger that failed before its file was there finds it behind a link", async () => {
  const path = scratchFile();
  await send(fileLedger(path), "welcome:0");
  const link = scratchFile("missing/once.ledger");
  const ledger = fileLedger(link, { compactAfter: 1 });
  await expect(ledger.claim("welcome:1", "f")).rejects.toThrow("cannot be used");
  mkdirSync(dirname(link));
  symlinkSync(path, link);
  for (const key of ["welcome:1", "welcome:2"]) await send(ledger, key);
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  expect(await send(fileLedger(path), "welcome:2")).toBe("sent");
});

test.each([
  [999, "left as it is"],
  [1_000, "shortened"],
])("by default a file of %i lines is %s", async (lines, what) => {
  const path = scratchFile();
  await send(fileLedger(path), "welcome:0");
  const written = recordsIn(path);
  // Three are there, and two come with the next key.
  appendFileSync(path, `\n${JSON.stringify(written.at(-1))}\n`.repeat(lines - 5));
  await send(fileLedger(path), "welcome:1");
  expect(recordsIn(path).length < lines ? "shortened" : "left as it is").toBe(what);
});

test("options that make no sense are refused at once", () => {
  expect(() => fileLedger("")).toThrow("path must be a string");
  expect(() => fileLedger("x", { compactAfter: 0 })).toThrow("compactAfter");
});
