import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ContactChange } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";
import { compile, root } from "../support/programs.ts";
import { draws, campaignSeed as seed } from "./campaign-seed.ts";

// npm run campaign -- changes-kills: 200 of them.
const kills = Number(process.env.TOUCHPOINT_CHANGES_KILLS ?? 4);
const contacts = 1_500;
const [program = ""] = await compile("changes", [`${root}test/e2e/changes-child.ts`]);

test(`killed ${kills} times at any instant, every change is yielded at least once (TOUCHPOINT_CAMPAIGN_SEED=${seed})`, async () => {
  const { below, oneOf } = draws(seed);
  const folder = mkdtempSync(join(tmpdir(), "touchpoint-kills-"));
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false, latencyMs: [1, 15], seed });
  sandbox.seedContacts(contacts);
  const server = await sandbox.listen();
  const [snapshot, out] = [join(folder, "snapshot"), join(folder, "changes.ndjson")];
  const drawn = { kills: [] as number[], changed: 0, removed: 0, added: 0 };
  /** Kills the run when it has yielded so many changes and a little later; without them it comes to its end. */
  const run = async (killAfter = Number.POSITIVE_INFINITY, delayMs = 0): Promise<number | null> => {
    const child = spawn(process.execPath, [program, server.url, snapshot, out], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    child.on("message", (count) => {
      if (Number(count) >= killAfter) setTimeout(() => child.kill("SIGKILL"), delayMs);
    });
    return new Promise((resolve) => child.once("exit", resolve));
  };
  /** Others change, add and remove: each kind in each part of the list. */
  const move = async (count: number): Promise<void> => {
    for (let left = count; left > 0; left -= 1) {
      const { id = "" } = oneOf(sandbox.state.contacts) ?? {};
      const kind = oneOf(["removed", "added", "changed", "changed", "changed"] as const) ?? "changed";
      drawn[kind] += 1;
      if (kind === "removed") sandbox.removeContact(id);
      else if (kind === "added") sandbox.addContact({ email: `new${below(1)}@example.com` });
      else await patch(id);
    }
  };
  const patch = (id: string) =>
    sandbox.fetch(`http://localhost/api/v1/contacts/${id}`, {
      method: "PATCH",
      headers: { authorization: "Bearer key", "content-type": "application/json" },
      body: JSON.stringify({ title: `Title ${below(1)}` }),
    });
  try {
    let killed = 0;
    for (let round = 0; killed < kills; round += 1) {
      await move(400);
      // The first two runs of a round are killed, unless they come to their end before.
      for (let runs = 0; runs < 2 && killed < kills; runs += 1) {
        const most = round === 0 ? contacts : 400;
        const killAfter = Math.ceil(below(most * 0.6));
        drawn.kills.push(killAfter);
        if ((await run(killAfter, below(10))) !== 0) killed += 1;
        await move(20);
      }
      // A run that goes on tells nothing of what it has passed; the next does.
      expect([await run(), await run()]).toEqual([0, 0]);
      const copy = new Map<string, unknown>();
      const lines = readFileSync(out, "utf8").trimEnd().split("\n");
      for (const line of lines) {
        // As the child wrote it.
        const change = JSON.parse(line) as ContactChange;
        if (change.kind === "removed") copy.delete(change.id);
        else copy.set(change.contact.id, change.contact);
      }
      expect(copy).toEqual(
        new Map(sandbox.state.contacts.map((contact) => [contact.id, JSON.parse(JSON.stringify(contact))])),
      );
    }
    console.log(`campaign of changes, seed ${seed}:`, JSON.stringify(drawn));
    expect(readdirSync(folder).sort()).toEqual(["changes.ndjson", "snapshot"]);
  } finally {
    await server.close();
    rmSync(folder, { recursive: true });
  }
}, 3_600_000);
