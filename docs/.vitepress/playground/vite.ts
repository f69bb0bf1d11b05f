import { fileURLToPath } from "node:url";

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const ofPackage = at("../../../src/");

/** Builds the client and the sandbox for the page: Node's modules are small stand-ins, undici is the page's own fetch. */
export const packageInPage = {
  name: "package-in-page",
  enforce: "pre" as const,
  resolveId(id: string, importer: string | undefined) {
    if (!importer?.startsWith(ofPackage)) return undefined;
    if (id.startsWith("node:")) return at("shims/node.ts");
    return id.endsWith("/http/transport/undici.ts") ? `${ofPackage}edge.ts` : undefined;
  },
};
