import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Client } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";
import type { CliRun } from "../support/cli.ts";
import { cliScene } from "../support/cli-scene.ts";

const scene = cliScene();
const { start } = scene;

describe("sandbox", () => {
  const firstLine = (child: CliRun) =>
    new Promise<string>((resolve) => child.process.stdout?.once("data", (text: string) => resolve(text)));

  test("serves until SIGINT", async () => {
    const child = start("sandbox", "--port", "0", "--key", "mine", "--contacts", "7", "--json");
    const { url, ...said } = JSON.parse(await firstLine(child));
    expect(said).toEqual({ key: "mine", contacts: 7 });
    const client = new Client({ apiKey: "mine", baseUrl: url });
    expect((await client.contacts.list()).total).toBe(7);
    await client.close();
    child.process.kill("SIGINT");
    expect(await child.ended).toMatchObject({ ended: 0, stderr: "" });
  });

  test("loads records, and responds after its latency", async () => {
    const saved = createSandbox();
    saved.addContact({ email: "ada@example.com" });
    const file = join(scene.folder, "fixture.json");
    await saved.save(file);
    const child = start("sandbox", "--port", "0", "--load", file, "--latency", "60000", "--json");
    const { url, contacts } = JSON.parse(await firstLine(child));
    const headers = { authorization: "Bearer sandbox-key", "content-type": "application/json" };
    const answer = fetch(`${url}/api/v1/contacts`, { headers });
    const state = () => fetch(`${url}/_sandbox/state`).then((response) => response.json());
    await expect.poll(state).toMatchObject({ counts: { requests: 1 } });
    await fetch(`${url}/_sandbox/advance`, { method: "POST", headers, body: '{"ms":60000}' });
    expect([contacts, (await answer).status]).toEqual([1, 200]);
    child.process.kill("SIGINT");
    await child.ended;
  });

  test.each([
    [["--limits", "off"], 120],
    [["--limits", "100"], 120],
    [["--limits", "0.5"], 50],
    [[], 100],
  ])("%j lets %i of 120 requests through at once", async (options, passed) => {
    const child = start("sandbox", "--port", "0", "--json", ...options);
    const { url } = JSON.parse(await firstLine(child));
    const headers = { authorization: "Bearer sandbox-key" };
    const answers = Array.from({ length: 120 }, () => fetch(`${url}/api/v1/contacts`, { headers }));
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(passed);
    child.process.kill("SIGINT");
    await child.ended;
  });
});
