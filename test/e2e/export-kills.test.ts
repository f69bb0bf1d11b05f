import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { readCsv, readNdjson } from "../../src/files/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

// npm run campaign -- test/e2e/export-kills: 200 of them.
const kills = Number(process.env.TOUCHPOINT_EXPORT_KILLS ?? 4);
const contacts = 4_000;
const root = fileURLToPath(new URL("../..", import.meta.url));

test(`killed ${kills} times at any instant, over sockets, every contact is in the file once`, async () => {
  const folder = mkdtempSync(join(tmpdir(), "touchpoint-kills-"));
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false, latencyMs: [1, 15] });
  sandbox.seedContacts(contacts);
  const server = await sandbox.listen();
  const run = (out: string) => {
    const program = [join(root, "test/e2e/export-child.ts"), server.url, join(folder, out)];
    const child = spawn(process.execPath, ["--import", import.meta.resolve("tsx"), ...program], {
      cwd: folder,
      env: { ...process.env, TSX_TSCONFIG_PATH: join(root, "tsconfig.json") },
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
    return { child, ended };
  };
  try {
    let killed = 0;
    for (let round = 0; killed < kills; round += 1) {
      const out = round % 2 === 0 ? "out.csv" : "out.ndjson";
      // In ten pieces: each child lives until it has written a tenth, and a little longer, at random.
      while (!existsSync(join(folder, out)) && killed < kills) {
        const { child, ended } = run(out);
        const tenth = Math.ceil((Math.random() * contacts) / 5);
        child.on("message", (written) => {
          if (Number(written) >= tenth) setTimeout(() => child.kill("SIGKILL"), Math.random() * 20);
        });
        if ((await ended) !== 0) killed += 1;
      }
      if (!existsSync(join(folder, out))) expect(await run(out).ended).toBe(0);
      const ids: unknown[] = [];
      const records = out === "out.csv" ? readCsv(join(folder, out)) : readNdjson(join(folder, out));
      for await (const { id } of records) ids.push(id);
      expect(ids.sort()).toEqual(sandbox.state.contacts.map(({ id }) => id).sort());
      if (out === "out.csv")
        expect(readFileSync(join(folder, out), "utf8").match(/^id,email/gm)).toHaveLength(1);
      rmSync(join(folder, out));
    }
  } finally {
    await server.close();
    rmSync(folder, { recursive: true });
  }
}, 3_600_000);
