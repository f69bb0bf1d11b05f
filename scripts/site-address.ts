// What the README points at: files of the package, until the site has an address (`homepage` in package.json).
//   npm run generate   writes the address into it
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { pages } from "../docs/.vitepress/pages.ts";

/** The one setting: where the owner publishes the site. */
export const homepageOf = (manifest: object): string | undefined => {
  const homepage: unknown = Reflect.get(manifest, "homepage");
  return typeof homepage === "string" ? homepage.replace(/\/*$/, "/") : undefined;
};

const pageOf = (file: string): string | undefined => {
  const path = file
    .replace(/^docs\//, "")
    .replace(/\.md$/, "")
    .toLowerCase();
  return pages.some((page) => page.path === path) ? path : undefined;
};

const link = /\]\(((?:docs\/)?[\w/-]+\.md)(#[\w-]+)?\)/g;
const picture = (homepage: string): string =>
  `![The workbench of the sandbox: the requests that a program made](${homepage}workbench-requests.png)`;
const pictured = /\]\((\S+\/)workbench-requests\.png\)/;

/** The README with the picture below its first sentence, and with links to the site's pages. */
export const withAddress = (readme: string, homepage: string): string => {
  const linked = readme.replace(link, (all, file: string, anchor = "") => {
    const page = pageOf(file);
    return page === undefined ? all : `](${homepage}${page}${anchor})`;
  });
  const [, before] = pictured.exec(readme) ?? [];
  if (before !== undefined) return linked.replaceAll(`](${before}`, `](${homepage}`);
  const [title, first, ...rest] = linked.split("\n\n");
  return [title, first, picture(homepage), ...rest].join("\n\n");
};

/** Everything that waits for the address, a line each. */
export const waitingForAddress = (readme: string, homepage: string | undefined): readonly string[] => {
  const files = [...readme.matchAll(link)].flatMap(([, file = ""]) =>
    pageOf(file) === undefined ? [] : [`README.md: the link to ${file}`],
  );
  const isShown = homepage !== undefined && readme.includes(picture(homepage));
  return [
    ...(homepage === undefined
      ? ["the site: sitemap.xml", "the site: og:image, the picture of a link", "llms.txt: whole addresses"]
      : []),
    ...(isShown ? [] : ["README.md: the picture of the workbench"]),
    ...new Set(files),
  ];
};

if (process.argv[1] === import.meta.filename) {
  const at = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));
  const homepage = homepageOf(JSON.parse(readFileSync(at("package.json"), "utf8")));
  const readme = readFileSync(at("README.md"), "utf8");
  if (homepage !== undefined) writeFileSync(at("README.md"), withAddress(readme, homepage));
}
