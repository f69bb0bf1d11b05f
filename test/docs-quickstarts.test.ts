import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { createSandbox } from "../src/sandbox/index.ts";
import { documents } from "./support/docs-pages.ts";
import { freePort } from "./support/free-port.ts";
import { compile, root } from "./support/programs.ts";

const page = documents.find(({ path }) => path === "docs/guide/quickstarts.md");
const programOf = (heading: string): string => {
  const after = page?.text.split(`\n## ${heading}\n`)[1] ?? "";
  return /```ts\n([\s\S]*?)\n```/.exec(after)?.[1] ?? "";
};

const folder = join(root, "tmp/quickstarts");
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "touchpoint.ts"), programOf("The client"));
const servers = [
  { framework: "Hono", port: await freePort() },
  { framework: "Fastify", port: await freePort() },
  { framework: "Express", port: await freePort() },
];
const compiled = await compile(
  "quickstarts",
  servers.map(({ framework, port }) => {
    const file = join(folder, `${framework}.ts`);
    writeFileSync(file, programOf(framework).replace("3000", String(port)));
    return file;
  }),
);

describe.each(servers)("the quickstart for $framework", ({ framework, port }) => {
  test("answers a visitor with its own status, never the service's, and stops on SIGTERM", async () => {
    const sandbox = createSandbox();
    const service = await sandbox.listen({ port: 0 });
    const program = compiled[servers.findIndex((server) => server.framework === framework)] ?? "";
    const server = spawn(process.execPath, [program], {
      stdio: "ignore",
      env: { ...process.env, TOUCHPOINT_BASE_URL: service.url, TOUCHPOINT_API_KEY: "sandbox-key" },
    });
    const ended = once(server, "exit");
    try {
      const url = `http://localhost:${port}`;
      await vi.waitFor(() => fetch(url), { timeout: 10_000 });
      const signUp = async (body: string) => {
        const headers = { "content-type": "application/json" };
        const response = await fetch(`${url}/signup`, { method: "POST", headers, body });
        return [response.status, response.headers.get("retry-after"), await response.text()];
      };
      const ada = '{"email":"ada@example.com"}';
      const known = [201, null, expect.stringContaining('"id"')];
      expect(await signUp(ada)).toEqual(known);
      expect(await signUp(ada)).toEqual(known);
      expect(sandbox.state.events).toHaveLength(1);
      expect(await signUp('{"email":"nobody"}')).toEqual([400, null, ""]);
      // A body that is no JSON is for the framework to refuse; Hono leaves it to the handler.
      expect(await signUp("{")).toEqual([framework === "Hono" ? 500 : 400, null, expect.any(String)]);
      sandbox.updateKey("sandbox-key", { revoked: true });
      expect(await signUp(ada)).toEqual([502, null, ""]);
      sandbox.updateKey("sandbox-key", { revoked: false });
      sandbox.fail({ operation: "contacts.create", with: { status: 429, retryAfter: 60 } });
      expect(await signUp(ada)).toEqual([429, "60", ""]);
      server.kill("SIGTERM");
      expect(await ended).toEqual([0, null]);
    } finally {
      server.kill("SIGKILL");
      await service.close();
    }
  });
});
