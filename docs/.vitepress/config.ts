import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";
import { writeLlmsTexts } from "./llms.ts";
import { sections } from "./pages.ts";

const reference = fileURLToPath(new URL("../reference", import.meta.url));

/** The generated pages of one entry of the package, by kind. */
const referenceOf = (entry: string) =>
  readdirSync(`${reference}/${entry}`, { withFileTypes: true })
    .filter((kind) => kind.isDirectory())
    .map(({ name: kind }) => ({
      text: kind,
      items: readdirSync(`${reference}/${entry}/${kind}`)
        .filter((file) => file.endsWith(".md"))
        .map((file) => ({
          text: file.slice(0, -3),
          link: `/reference/${entry}/${kind}/${file.slice(0, -3)}`,
        })),
    }));

export default defineConfig({
  title: "Touchpoint SDK",
  description:
    "The typed TypeScript client for contacts, events and one-to-one email that sends nothing twice.",
  lang: "en",
  cleanUrls: true,
  lastUpdated: false,
  // Written for those who work on the library.
  srcExclude: ["api.md", "faults.md", "design-notes.md"],
  head: [["link", { rel: "icon", href: "/icon.svg" }]],
  markdown: { theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" } },
  themeConfig: {
    logo: "/icon.svg",
    outline: [2, 3],
    search: { provider: "local" },
    nav: [
      { text: "Guide", link: "/guide/first-call", activeMatch: "/guide/" },
      { text: "Errors", link: "/errors" },
      { text: "Examples", link: "/examples" },
      { text: "API", link: "/reference/", activeMatch: "/reference/" },
    ],
    sidebar: {
      "/": sections.map(({ text, pages }) => ({
        text,
        items: pages.map(({ title, path }) => ({ text: title, link: `/${path}` })),
      })),
      "/reference/": ["index", "errors", "sandbox", "files", "redis", "opentelemetry"].map((entry) => ({
        text: entry === "index" ? "touchpoint-sdk" : `touchpoint-sdk/${entry}`,
        items: referenceOf(entry),
      })),
    },
    footer: { message: "MIT License. The service's document is the authority on the wire." },
  },
  buildEnd: ({ outDir, srcDir }) => writeLlmsTexts(srcDir, outDir),
});
