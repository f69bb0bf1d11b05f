import type { MarkdownRenderer } from "vitepress";

/** How each package manager says `npm install` and `npx`. */
const words = {
  npm: ["npm install", "npx"],
  pnpm: ["pnpm add", "pnpm exec"],
  yarn: ["yarn add", "yarn"],
  bun: ["bun add", "bunx"],
} as const;

/** What to type with each package manager for what the guides say with npm; undefined where nothing is installed. */
export const perManager = (
  code: string,
): readonly (readonly [manager: string, code: string])[] | undefined =>
  /^npm install /m.test(code)
    ? Object.entries(words).map(([manager, [install, run]]) => [
        manager,
        code.replaceAll(/^npm install /gm, `${install} `).replaceAll(/^npx /gm, `${run} `),
      ])
    : undefined;

/** Draws a block that installs something as tabs, one for each package manager. The texts beside the pages stay npm's. */
export const packageManagerTabs = (md: MarkdownRenderer): void => {
  md.core.ruler.push("tabs of package managers", (state) => {
    state.tokens = state.tokens.flatMap((token) => {
      const tabs = token.type === "fence" && token.info === "sh" ? perManager(token.content) : undefined;
      if (tabs === undefined) return [token];
      // What `::: code-group` makes.
      const [open, close] = ([1, -1] as const).map(
        (nesting) =>
          new state.Token(`container_code-group_${nesting === 1 ? "open" : "close"}`, "div", nesting),
      );
      const blocks = tabs.map(([manager, code]) =>
        Object.assign(new state.Token("fence", "code", 0), {
          info: `sh [${manager}]`,
          content: code,
          markup: "```",
        }),
      );
      return [open, ...blocks, close].filter((made) => made !== undefined);
    });
  });
};
