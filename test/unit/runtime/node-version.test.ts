import { expect, test } from "vitest";
import manifest from "../../../package.json" with { type: "json" };
import { assertNode, leastNode } from "../../../src/runtime/node-version.ts";

test("the oldest Node is the one of package.json", () => {
  expect(manifest.engines.node).toBe(`>=${leastNode}`);
});

test.each(["18.20.8", "19.9.0", "20.9.0", "20.18.0"])("Node %s is refused in one sentence", (version) => {
  expect(() => assertNode(version)).toThrow(
    `touchpoint-sdk needs Node.js 20.18.1 or newer, and this is ${version}: update Node.js`,
  );
});

test.each(["20.18.1", "20.19.0", "21.0.0", "22.9.0", "100.0.0"])("Node %s is taken", (version) => {
  expect(() => assertNode(version)).not.toThrow();
});
