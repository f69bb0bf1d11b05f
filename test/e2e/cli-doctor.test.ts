import { describe, expect, test } from "vitest";
import { startCli } from "../support/cli.ts";
import { cliScene, key } from "../support/cli-scene.ts";

const scene = cliScene();
const { run } = scene;

describe("doctor", () => {
  test("ends with 0 for a service as documented, at the address of --base-url", async () => {
    scene.sandbox.seedContacts(3);
    const child = startCli(["doctor", "--base-url", scene.server.url], {
      cwd: scene.folder,
      env: { TOUCHPOINT_BASE_URL: "", TOUCHPOINT_API_KEY: key },
    });
    const { ended, stdout, stderr } = await child.ended;
    expect({ ended, stderr }).toEqual({ ended: 0, stderr: "" });
    expect(stdout).toMatch(/^Nothing differs\.\n/);
  });

  test("ends with 3 for a difference, and reports it as JSON without the records", async () => {
    scene.sandbox.seedContacts(3);
    const data = scene.sandbox.state.contacts.map((contact) => ({ ...contact, id: 7, verified: "no" }));
    scene.sandbox.fail({
      operation: "contacts.list",
      times: Number.POSITIVE_INFINITY,
      with: { status: 200, body: { data, total: 3, skip: 0, limit: 200 } },
    });
    const { ended, report } = await run("doctor", "--json");
    expect(ended).toBe(3);
    expect(report.differs[0]).toMatch(/^contacts\.list: /);
    expect(JSON.stringify(report)).not.toContain(scene.sandbox.state.contacts[0]?.email);
  });

  test("ends with 1 for a refused key, and with 2 for an invalid address", async () => {
    scene.sandbox.updateKey(key, { revoked: true });
    expect(await run("doctor", "--json")).toMatchObject({ ended: 1, report: undefined });
    expect(await run("doctor", "--base-url", "nowhere")).toMatchObject({ ended: 2, report: undefined });
  });
});
