// For TypeDoc: groups the options of a client in the reference as the guide to them does, which is the one list.
import { readFileSync } from "node:fs";
import { CommentTag, Converter } from "typedoc";

const guide = readFileSync(new URL("../guide/options.md", import.meta.url), "utf8");
/** The names after each heading: `- `apiKey`: …` or `- `customFields`, `events`: …`. */
const groups = guide
  .split(/^## /m)
  .slice(1)
  .map((section) => {
    const [title = ""] = section.split("\n", 1);
    const items = [...section.matchAll(/^- ((?:`\w+`(?:, )?)+)/gm)];
    return { title, names: items.flatMap(([, names = ""]) => [...names.matchAll(/\w+/g)].map(String)) };
  });

/** @param {import("typedoc").Application} app */
export const load = ({ converter }) => {
  const optionsOf = ({ project }) => project.getChildByName("index.ClientOptions");
  converter.on(Converter.EVENT_RESOLVE_BEGIN, (context) => {
    for (const { title, names } of groups)
      for (const name of names) {
        const comment = optionsOf(context)?.getChildByName([name])?.comment;
        if (comment === undefined) throw new Error(`docs/guide/options.md: ClientOptions has no ${name}`);
        comment.blockTags.push(new CommentTag("@group", [{ kind: "text", text: title }]));
      }
  });
  // TypeDoc has sorted them by name; this comes after all of it.
  converter.on(
    Converter.EVENT_RESOLVE_END,
    (context) => {
      const place = ({ title }) => groups.findIndex((group) => group.title === title);
      optionsOf(context)?.groups?.sort((a, b) => place(a) - place(b));
    },
    -10_000,
  );
};
