import { readdirSync } from "node:fs";
import type { MarkdownRenderer } from "vitepress";

type Rule = Parameters<MarkdownRenderer["core"]["ruler"]["push"]>[1];
type State = Parameters<Rule>[0];
type Token = State["tokens"][number];

/** The generated page of each exported name, by name; of the root entry where several have it. */
export const referencePages = (folder: string): ReadonlyMap<string, string> => {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const found = files.flatMap((file) => {
    const [, path, name] =
      /^(\w+\/(?:classes|interfaces|type-aliases|functions)\/(\w+))\.md$/.exec(file) ?? [];
    return path === undefined || name === undefined ? [] : [[name, `/reference/${path}`] as const];
  });
  return new Map(found.sort(([, a], [, b]) => Number(a.includes("/index/")) - Number(b.includes("/index/"))));
};

// A word of prose is a type only where it cannot be anything else.
const compound = /\b([A-Z][a-z]+(?:[A-Z][a-z]+)+)\b/;

/** Links the names of exported types: in code of any page its first mention, in the reference every word. */
export const linkTypes = (md: MarkdownRenderer, pageOf: ReadonlyMap<string, string>): void => {
  md.core.ruler.push("links of types", ({ tokens, env, Token }: State) => {
    const isReference = env.relativePath?.startsWith("reference/");
    const here = `/${env.relativePath?.replace(/\.md$/, "")}`;
    const seen = new Set<string>();

    const linked = (inner: Token, name: string): Token[] => {
      const href = pageOf.get(name);
      if (href === undefined || href === here || (!isReference && seen.has(name))) return [inner];
      seen.add(name);
      const open = new Token("link_open", "a", 1);
      open.attrSet("href", href);
      return [open, inner, new Token("link_close", "a", -1)];
    };
    const words = (token: Token): Token[] =>
      token.content
        .split(compound)
        .filter((part) => part !== "")
        .flatMap((part) => {
          const text = new Token("text", "", 0);
          text.content = part;
          return compound.test(part) ? linked(text, part) : [text];
        });

    let isHeading = false;
    for (const block of tokens) {
      if (block.type.startsWith("heading_")) isHeading = block.type === "heading_open";
      if (block.type !== "inline" || block.children === null || isHeading) continue;
      let depth = 0;
      block.children = block.children.flatMap((token) => {
        depth += token.type === "link_open" ? 1 : token.type === "link_close" ? -1 : 0;
        if (depth > 0 || token.type === "link_close") return [token];
        if (token.type === "code_inline") return linked(token, token.content.replace(/\(\)$/, ""));
        return token.type === "text" && isReference ? words(token) : [token];
      });
    }
  });
};
