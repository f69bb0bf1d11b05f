import type { Finding } from "./expected.ts";
import { type Replay, type Subject, subjects } from "./subjects.ts";

/** One operation's line under a fault: what came of it in each column. */
interface Line {
  readonly subject: Subject;
  readonly columns: readonly (Finding | undefined)[];
}

/** The lines of one fault. */
export interface Group {
  readonly name: string;
  readonly lines: readonly Line[];
}

const classes: Readonly<Record<Replay, string>> = {
  read: "*reads*",
  repeated: "*repeatable writes*",
  never: "*writes never repeated*",
};

const namesOf = (group: readonly Subject[]): string => {
  if (group.length === subjects.length) return "every operation";
  let left = group;
  const names: string[] = [];
  for (const [replay, name] of Object.entries(classes)) {
    const all = subjects.filter((subject) => subject.replay === replay);
    if (!all.every((subject) => left.includes(subject))) continue;
    names.push(name);
    left = left.filter((subject) => !all.includes(subject));
  }
  return [...names, ...left.map(({ name }) => name)].join(", ");
};

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** An effect counts once, however many records it makes. */
const textOf = (finding: Finding | undefined, { replay, size = 1 }: Subject): string => {
  if (finding === undefined) return "–";
  const { told, outcome, requests, effects } = finding;
  const said = outcome === undefined ? told : `\`${told}\`, ${outcome}`;
  const times = effects % size === 0 ? `${effects / size}×` : `${effects} of ${size}`;
  const applied = replay === "read" ? "" : `, applied ${times}`;
  return `${said}; ${plural(requests, "request")}${applied}`;
};

const rowsOf = ({ name, lines }: Group): string[] => {
  const same = new Map<string, Subject[]>();
  for (const { subject, columns } of lines) {
    const text = columns.map((finding) => textOf(finding, subject)).join(" | ");
    same.set(text, [...(same.get(text) ?? []), subject]);
  }
  return [...same].map(([text, group], at) => `| ${at === 0 ? name : ""} | ${namesOf(group)} | ${text} |`);
};

/** A table of what was found: one row for the operations that fared alike. */
export const tableOf = (head: readonly string[], groups: readonly Group[]): string =>
  [
    `| ${head.join(" | ")} |`,
    `|${head.map(() => "---").join("|")}|`,
    ...groups.flatMap((group) => rowsOf(group)),
  ].join("\n");

/** What each name of a class stands for. */
export const legend = (): string =>
  Object.entries(classes)
    .map(([replay, name]) => {
      const own = subjects.filter((subject) => subject.replay === replay);
      return `- ${name}: ${own.map((subject) => subject.name).join(", ")}`;
    })
    .join("\n");
