import type { MarkdownRenderer } from "vitepress";

/** Gives each cell the title of its column, which a phone shows above it. */
export const tableLabels = (md: MarkdownRenderer): void => {
  md.core.ruler.push("labels of tables", ({ tokens }) => {
    let titles: string[] = [];
    let column = 0;
    for (const [index, { type }] of tokens.entries()) {
      if (type === "table_open") titles = [];
      if (type === "tr_open") column = 0;
      const text = (tokens[index + 1]?.content ?? "").replaceAll("`", "");
      if (type === "th_open") titles.push(text);
      if (type === "td_open") {
        tokens[index]?.attrSet("data-column", titles[column] ?? "");
        column += 1;
      }
    }
  });
};
