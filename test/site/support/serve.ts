import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { root } from "../../support/programs.ts";

/** Where `npm run docs` writes the site. */
export const site = join(root, "docs/.vitepress/dist");
const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".json": "application/json",
  ".txt": "text/plain; charset=utf-8",
  ".woff2": "font/woff2",
  ".md": "text/markdown; charset=utf-8",
};

/** The file of an address, as a host of static files finds it; addresses have no `.html`. */
export const fileOf = (path: string): string | undefined => {
  const at = join(site, decodeURIComponent(path));
  const found = path.endsWith("/") ? [join(at, "index.html")] : [at, `${at}.html`];
  return found.find((file) => extname(file) !== "" && existsSync(file));
};

/** Serves the built site on loopback. */
export const serveSite = async () => {
  const server = createServer((request, response) => {
    const file = fileOf(new URL(request.url ?? "/", "http://localhost").pathname);
    response.writeHead(file === undefined ? 404 : 200, {
      "content-type": types[extname(file ?? ".html")] ?? "text/html",
    });
    response.end(readFileSync(file ?? join(site, "404.html")));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // It listens on TCP.
  const { port } = server.address() as AddressInfo;
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { origin: `http://127.0.0.1:${port}`, close };
};
