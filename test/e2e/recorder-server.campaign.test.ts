import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { createSandbox } from "../../src/sandbox/index.ts";
import { freePort } from "../support/free-port.ts";
import { compile, root } from "../support/programs.ts";

const [program = ""] = await compile("recorder", [`${root}examples/recorder-server.ts`]);

test("the recorder's server loses no event when it is stopped under load", async () => {
  const sandbox = createSandbox({ limits: false, latencyMs: 20 });
  const { url, close } = await sandbox.listen({ port: 0 });
  const port = await freePort();
  const server = spawn(process.execPath, [program], {
    env: {
      ...process.env,
      PORT: String(port),
      TOUCHPOINT_BASE_URL: url,
      TOUCHPOINT_API_KEY: "sandbox-key",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  server.stdout.on("data", (text) => {
    output += String(text);
  });
  const visit = (page: string): Promise<number> =>
    fetch(`http://localhost:${port}/${page}`).then(
      ({ status }) => status,
      () => 0,
    );
  for (let status = 0; status === 0; ) status = await visit("ready");
  let isStopping = false;
  let answered = 1;
  const visitors = Array.from({ length: 20 }, async (_, visitor) => {
    for (let page = 0; !isStopping || page < 3; page += 1) {
      const status = await visit(`${visitor}/${page}`);
      if (status === 0) return;
      expect(status).toBe(202);
      answered += 1;
      // In the middle of the load, whichever visitor gets there.
      if (answered === 200) {
        isStopping = true;
        server.kill("SIGTERM");
      }
    }
  });
  // The last line may arrive after "exit", but always before "close".
  const [code] = await once(server, "close");
  await Promise.all(visitors);
  await close();
  expect([code, output.trim(), sandbox.state.events.length]).toEqual([0, `recorded ${answered}`, answered]);
});
