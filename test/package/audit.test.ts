import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { expect, inject, test } from "vitest";
import { run } from "./support/scratch.ts";

test("npm audit of a project that installs the package checks undici, and reports its advisories", async () => {
  const audited: string[] = [];
  const registry = createServer(async (request, response) => {
    const body = await buffer(request);
    if (request.url !== "/-/npm/v1/security/advisories/bulk") return response.writeHead(404).end("{}");
    const plain = request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body;
    audited.push(...Object.keys(JSON.parse(plain.toString())));
    const advisory = { id: 1, title: "Made for a test", severity: "high", vulnerable_versions: "*" };
    const advisories = { undici: [{ ...advisory, url: "https://advisories.example/1" }] };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(advisories));
  });
  await once(registry.listen(0, "127.0.0.1"), "listening");
  try {
    const { port } = registry.address() as AddressInfo; // The registry listens on a port.
    const args = ["audit", "--json", "--registry", `http://127.0.0.1:${port}`];
    const { code, stdout } = await run("npm", args, inject("installed"));
    expect({ code, audited }).toEqual({ code: 1, audited: ["touchpoint-sdk", "undici"] });
    expect(JSON.parse(stdout).vulnerabilities).toMatchObject({
      undici: { severity: "high", via: [{ title: "Made for a test" }], effects: ["touchpoint-sdk"] },
    });
  } finally {
    registry.close();
  }
});
