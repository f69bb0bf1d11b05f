import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { fileLedger } from "../../src/index.ts";
import { compile, root } from "../support/programs.ts";

const [sender = ""] = await compile("once", [`${root}test/e2e/once-sender.ts`]);

/** A service that leaves the answer to the test, and keeps what the ledger's file held when the email came. */
const service = async (path: string, answer: (response: ServerResponse) => void) => {
  const ledgers: string[] = [];
  const server = createServer((_request, response) => {
    ledgers.push(readFileSync(path, "utf8"));
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  // Listening on a port, not on a pipe.
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, ledgers };
};

const ledgerPath = (): string => {
  const directory = mkdtempSync(join(tmpdir(), "touchpoint-once-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return join(directory, "once.ledger");
};

const start = (url: string, path: string): ChildProcess =>
  spawn(process.execPath, [sender, url, path], { stdio: ["ignore", "pipe", "inherit"] });

const run = async (url: string, path: string): Promise<unknown> => {
  const { stdout } = start(url, path);
  if (stdout === null) throw new Error("the program has no output");
  return JSON.parse(await text(stdout));
};

const sent = (response: ServerResponse): void => {
  response.setHeader("content-type", "application/json");
  response.end('{"id":"m-1"}');
};

test("a process killed between its request and the answer leaves the key to be settled by hand", async () => {
  const path = ledgerPath();
  let child: ChildProcess | undefined;
  let isReachable = false;
  const { url, ledgers } = await service(path, (response) => {
    if (isReachable) sent(response);
    else child?.kill("SIGKILL");
  });
  child = start(url, path);
  const [signal] = await new Promise<[NodeJS.Signals | null]>((resolve) => {
    child?.on("exit", (_code, killedBy) => resolve([killedBy]));
  });
  expect(signal).toBe("SIGKILL");
  expect(ledgers).toEqual([expect.stringContaining('"key":"welcome:ada"')]);

  isReachable = true;
  expect(await run(url, path)).toEqual({ code: "once_pending", outcome: "unknown", attempts: 0 });
  expect(ledgers).toHaveLength(1);

  expect(await fileLedger(path).settle("welcome:ada", "not-sent")).toBe(false);
  expect(await fileLedger(path).settle("welcome:ada", "not-sent", { force: true })).toBe(true);
  expect(await run(url, path)).toEqual({ id: "m-1" });
  expect(await run(url, path)).toEqual({ id: "m-1" });
  expect(ledgers).toHaveLength(2);
});

test("only one of several processes that start together with one key sends", async () => {
  const path = ledgerPath();
  const { url, ledgers } = await service(path, sent);
  const results = await Promise.all(Array.from({ length: 4 }, () => run(url, path)));
  expect(ledgers).toHaveLength(1);
  const refused = { code: "once_pending", outcome: "unknown", attempts: 0 };
  expect(results).toContainEqual({ id: "m-1" });
  for (const result of results) expect([{ id: "m-1" }, refused]).toContainEqual(result);
});
