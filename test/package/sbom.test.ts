import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Spec, Validation } from "@cyclonedx/cyclonedx-library";
import { expect, inject, test } from "vitest";
import { bundled } from "../../scripts/vendors.ts";
import { root } from "./support/scratch.ts";

const text = readFileSync(
  join(inject("installed"), "node_modules/touchpoint-sdk/dist/sbom.cdx.json"),
  "utf8",
);
const sbom = JSON.parse(text);
const versionOf = (name: string): string =>
  JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"), "utf8")).version;
const misfits = (document: string) =>
  new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(document);

test("the installed package carries a valid CycloneDX document, whose validator refuses a broken one", async () => {
  expect(await misfits(text)).toBeNull();
  const [first, ...others] = sbom.components;
  const broken = { ...sbom, components: [{ ...first, name: undefined }, ...others] };
  expect(await misfits(JSON.stringify(broken))).not.toBeNull();
});

test("it names every bundled package as such, in the version that was installed", () => {
  const told = sbom.components.map(({ name, purl, properties }: Record<string, unknown>) => ({
    name,
    purl,
    properties,
  }));
  const properties = [{ name: "cdx:npm:package:bundled", value: "true" }];
  expect(told).toEqual(
    [...bundled].sort().map((name) => ({ name, purl: `pkg:npm/${name}@${versionOf(name)}`, properties })),
  );
});

test("its graph leads from the package to each of them", () => {
  const edges = new Map<string, string[]>(
    sbom.dependencies.map(({ ref, dependsOn }: { ref: string; dependsOn: string[] }) => [ref, dependsOn]),
  );
  const reached = new Set<string>();
  const walk = (ref: string): void => {
    for (const next of edges.get(ref) ?? []) {
      reached.add(next);
      walk(next);
    }
  };
  walk(sbom.metadata.component.purl);
  expect([...reached].sort()).toEqual(sbom.components.map(({ purl }: { purl: string }) => purl).sort());
  expect(edges.get(`pkg:npm/p-retry@${versionOf("p-retry")}`)).toEqual([
    `pkg:npm/is-network-error@${versionOf("is-network-error")}`,
  ]);
});
