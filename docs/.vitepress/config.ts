import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig, type UserConfig } from "vitepress";
import manifest from "../../package.json" with { type: "json" };
import { writeLlmsTexts } from "./llms.ts";
import { packageManagerTabs } from "./package-managers.ts";
import { pages, sections } from "./pages.ts";
import { packageInPage } from "./playground/vite.ts";
import { withPolicy } from "./security.ts";
import { tableLabels } from "./table-labels.ts";
import { linkTypes, referencePages } from "./type-links.ts";

const reference = fileURLToPath(new URL("../reference", import.meta.url));

/** The generated pages of one entry of the package, by kind. */
const referenceOf = (entry: string) =>
  readdirSync(`${reference}/${entry}`, { withFileTypes: true })
    .filter((kind) => kind.isDirectory())
    .map(({ name: kind }) => ({
      text: kind,
      // Without a link the whole entry would be a button, with another one in it.
      link: `/reference/${entry}/#${kind}`,
      collapsed: true,
      items: readdirSync(`${reference}/${entry}/${kind}`)
        .filter((file) => file.endsWith(".md"))
        .map((file) => ({
          text: file.slice(0, -3),
          link: `/reference/${entry}/${kind}/${file.slice(0, -3)}`,
        })),
    }));

/** The site's own address, once the owner has set it in package.json: the site map and the picture of links need it. */
const { homepage: address }: { readonly homepage?: string } = manifest;
const homepage = address?.replace(/\/*$/, "/");
const base = homepage === undefined ? "/" : new URL(homepage).pathname;
const title = "Touchpoint SDK";
const description =
  "The typed TypeScript client for contacts, events and one-to-one email that sends nothing twice.";

/** A page that repeats a paper of the repository: its links lead to files, and here to pages. */
const papers = ["changelog.md"];
const asPage = (href: string): string => href.replace(/^(?:\.\/)?docs\//, "./").replace(/\.md(?=#|$)/, "");

type BundleOptions = NonNullable<NonNullable<NonNullable<UserConfig["vite"]>["build"]>["rollupOptions"]>;

/** The stand-ins of Node's modules lack what a page never reaches. */
const shimmed: BundleOptions = {
  shimMissingExports: true,
  onwarn: (warning, warn) => (warning.code === "SHIMMED_EXPORT" ? undefined : warn(warning)),
};

export default defineConfig({
  title,
  description,
  lang: "en",
  base,
  cleanUrls: true,
  lastUpdated: false,
  // Written for those who work on the library.
  srcExclude: ["api.md", "faults.md", "design-notes.md", "screenshots/**"],
  head: [
    ["link", { rel: "icon", href: `${base}icon.svg` }],
    ["meta", { property: "og:title", content: title }],
    ["meta", { property: "og:description", content: description }],
    ...(homepage === undefined
      ? []
      : [
          [
            "meta",
            { property: "og:image", content: new URL("workbench-requests.png", homepage).href },
          ] as const,
        ]),
  ].map(([tag, attributes]) => [tag, attributes] as [string, Record<string, string>]),
  ...(homepage !== undefined && { sitemap: { hostname: homepage } }),
  transformHtml: withPolicy,
  transformPageData: (page) => {
    const known = pages.find(({ path }) => `${path}.md` === page.relativePath);
    return known && { description: known.about };
  },
  markdown: {
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    config: (md) => {
      linkTypes(md, referencePages(reference));
      packageManagerTabs(md);
      tableLabels(md);
      // In a comment, because each guide is also a file of the package, which has no pictures.
      md.core.ruler.before("block", "pictures", (state) => {
        state.src = state.src.replace(/^<!-- picture (\S+): (.+) -->$/gm, "![$2]($1)");
      });
      md.core.ruler.push("links of papers", ({ tokens, env }) => {
        if (!papers.includes(env.relativePath)) return;
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          const href = token.attrGet("href");
          if (href !== null && !/^\w+:/.test(href)) token.attrSet("href", asPage(href));
        }
      });
    },
  },
  vite: {
    plugins: [packageInPage],
    worker: { format: "es", plugins: () => [packageInPage], rollupOptions: shimmed },
    build: { rollupOptions: shimmed },
  },
  themeConfig: {
    logo: "/icon.svg",
    outline: [2, 3],
    search: {
      provider: "local",
      options: {
        miniSearch: {
          searchOptions: {
            fuzzy: 0.2,
            prefix: true,
            boost: { title: 6, titles: 2, text: 1 },
          },
        },
      },
    },
    notFound: {
      title: "There is no such page",
      quote: "Search with / for a word, or begin at the start.",
      linkText: "To the start",
    },
    nav: [
      { text: "Guide", link: "/guide/first-call", activeMatch: "/guide/" },
      { text: "Errors", link: "/errors" },
      { text: "Examples", link: "/examples" },
      { text: "API", link: "/reference/", activeMatch: "/reference/" },
      { text: "Changes", link: "/changelog" },
    ],
    sidebar: {
      "/": sections.map(({ text, pages }) => ({
        text,
        items: pages.map(({ title, path }) => ({ text: title, link: `/${path}` })),
      })),
      "/reference/": ["index", "errors", "sandbox", "files", "redis", "sql", "opentelemetry"].map(
        (entry) => ({
          text: entry === "index" ? "touchpoint-sdk" : `touchpoint-sdk/${entry}`,
          items: referenceOf(entry),
        }),
      ),
    },
    footer: { message: "MIT License. The service's document is the authority on the wire." },
  },
  buildEnd: ({ outDir, srcDir }) => writeLlmsTexts(srcDir, outDir, homepage),
});
