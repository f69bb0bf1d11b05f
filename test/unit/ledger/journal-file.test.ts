import { appendFileSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import type * as fs from "node:fs/promises";
import { dirname } from "node:path";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { compact } from "../../../src/ledger/compact.ts";
import { fileLedger } from "../../../src/ledger/file-ledger.ts";
import { JournalFile } from "../../../src/ledger/journal-file.ts";
import { scratchFile } from "./scratch-file.ts";
import { openFiles, watchSyncs } from "./watch-files.ts";

const race = vi.hoisted(() => ({
  beforeRemoving: (_path: string): void => undefined,
  beforeLooking: (): void => undefined,
}));

vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof fs>();
  const rm: typeof real.rm = (path, options) => {
    race.beforeRemoving(String(path));
    return real.rm(path, options);
  };
  const stat = new Proxy(real.stat, {
    apply: (looking, self, given) => {
      race.beforeLooking();
      return Reflect.apply(looking, self, given);
    },
  });
  return { ...real, rm, stat };
});

beforeEach(() => {
  race.beforeRemoving = () => undefined;
  race.beforeLooking = () => undefined;
});

const claiming = (key: string) => ({ key, claim: `claim of ${key}`, fingerprint: "f", since: 0 });

test("a seal whose file was replaced a moment ago is left, and the new file used", async () => {
  const path = scratchFile();
  await fileLedger(path).claim("welcome:1", "f");
  await fileLedger(`${path}.s1.tmp`).claim("welcome:2", "f");
  appendFileSync(path, '\n{"seal":"s1"}\n');
  race.beforeRemoving = (successor) => renameSync(successor, path);
  expect(await fileLedger(path).claim("welcome:2", "f")).toMatchObject({ state: "pending" });
});

test("how a key stands is told by the file that took the place of a sealed one", async () => {
  const path = scratchFile();
  await fileLedger(path).claim("welcome:1", "f");
  const other = fileLedger(`${path}.s1.tmp`);
  await other.claim("welcome:1", "f");
  await other.settle("welcome:1", "sent", { receipt: { id: "m-1" } });
  appendFileSync(path, '\n{"seal":"s1"}\n');
  race.beforeRemoving = (successor) => renameSync(successor, path);
  expect(await fileLedger(path).claim("welcome:1", "f")).toMatchObject({ receipt: { id: "m-1" } });
});

test("a seal whose half-made file somebody took away already is lifted all the same", async () => {
  const path = scratchFile();
  await fileLedger(path).claim("welcome:1", "f");
  appendFileSync(path, '\n{"seal":"s1"}\n');
  expect(await fileLedger(path).claim("welcome:2", "f")).toMatchObject({ state: "claimed" });
  expect(await fileLedger(path).claim("welcome:2", "f")).toMatchObject({ state: "pending" });
});

test("a file that is deleted while its seal is lifted is begun anew, and the key is claimed there", async () => {
  const path = scratchFile();
  await fileLedger(path).claim("welcome:1", "f");
  appendFileSync(path, '\n{"seal":"s1"}\n');
  race.beforeRemoving = () => rmSync(path);
  expect(await fileLedger(path).claim("welcome:2", "f")).toMatchObject({ state: "claimed" });
  const content = readFileSync(path, "utf8");
  expect([content.includes("welcome:1"), content.includes("welcome:2")]).toEqual([false, true]);
});

test("an exchange that another process began first is left to it", async () => {
  const path = scratchFile();
  const [late, other] = [new JournalFile(path), new JournalFile(path)];
  const exchange = late.use(async (file) => {
    await other.use((same) => other.append(same, { seal: "s1" }));
    await compact(late, file);
  });
  await expect(exchange).rejects.toThrow("somebody else was first");
  expect(readdirSync(dirname(path))).toEqual(["once.ledger"]);
});

test("a claim that is appended to a file already replaced does not count", async () => {
  const path = scratchFile();
  const [slow, quick] = [new JournalFile(path), new JournalFile(path)];
  const effective = await slow.use(async (file) => {
    await quick.use((same) => compact(quick, same));
    return slow.append(file, claiming("welcome:1"));
  });
  expect(effective.has("claim of welcome:1")).toBe(false);
  expect(await fileLedger(path).claim("welcome:1", "f")).toMatchObject({ state: "claimed" });
});

test("a claim in the middle of an exchange calls the exchange off", async () => {
  const path = scratchFile();
  const [maker, other] = [new JournalFile(path), fileLedger(path)];
  await other.claim("welcome:1", "f");
  const before = readFileSync(path, "utf8");
  const exchange = maker.use(async (file) => {
    const append = maker.append.bind(maker);
    maker.append = async (same, record) => {
      const effective = await append(same, record);
      // The seal stands and the exchange has not happened yet.
      expect(await other.claim("welcome:2", "f")).toMatchObject({ state: "claimed" });
      return effective;
    };
    await compact(maker, file);
  });
  await expect(exchange).rejects.toThrow("no such file");
  expect(readFileSync(path, "utf8").startsWith(before)).toBe(true);
  expect(await fileLedger(path).claim("welcome:2", "f")).toMatchObject({ state: "pending" });
});

test("an exchange takes away what killed processes left beside the file, and nothing else", async () => {
  const path = scratchFile();
  const ledger = new JournalFile(path);
  writeFileSync(`${path}.${crypto.randomUUID()}.tmp`, "left behind");
  writeFileSync(`${path}.notes.tmp`, "somebody's");
  await ledger.use((file) => compact(ledger, file));
  expect(readdirSync(dirname(path))).toEqual(["once.ledger", "once.ledger.notes.tmp"]);
});

test("the name of a new file is on disk before anything in it counts, once, and no file is left open", async () => {
  const path = scratchFile();
  const ledger = fileLedger(path);
  const { synced, leftOpen } = await watchSyncs(path);
  await ledger.claim("welcome:1", "f");
  expect(synced).toEqual(["directory", "ledger", "ledger"]);
  await ledger.claim("welcome:2", "f");
  expect(synced.slice(3)).toEqual(["ledger"]);
  expect(leftOpen()).toBe(0);
});

test("a file that comes in pieces is read whole, from its beginning or from where the reading stopped", async () => {
  const path = scratchFile();
  const [here, there] = [fileLedger(path), fileLedger(path)];
  await there.claim("welcome:1", "f");
  const prototype = await openFiles(path);
  const { read } = prototype;
  const inPieces = vi.spyOn(prototype, "read").mockImplementation(function (
    this: fs.FileHandle,
    ...given: readonly unknown[]
  ) {
    const [buffer, offset, length, position] = given;
    return Reflect.apply(read, this, [buffer, offset, Math.ceil(Number(length) / 2), position]);
  });
  onTestFinished(() => inPieces.mockRestore());
  expect(await here.claim("welcome:1", "f")).toMatchObject({ state: "pending" });
  await here.claim("welcome:2", "f");
  expect(await there.claim("welcome:2", "f")).toMatchObject({ state: "pending" });
});

test("a disk that fails while a seal is lifted is told, and not asked again", async () => {
  const path = scratchFile();
  await fileLedger(path).claim("welcome:1", "f");
  appendFileSync(path, '\n{"seal":"s1"}\n');
  const failures = ["EIO"];
  race.beforeLooking = () => {
    const message = failures.pop();
    if (message !== undefined) throw new Error(message);
  };
  await expect(fileLedger(path).claim("welcome:2", "f")).rejects.toThrow(
    `ledger ${path} cannot be used: EIO`,
  );
});
