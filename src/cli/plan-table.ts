import type { PlannedRow } from "../index.ts";
import { grouped, visible } from "./terminal.ts";

const maxShown = 5;

interface Group {
  count: number;
  readonly rows: PlannedRow[];
  /** How many rows would change each field, or have each reason. */
  readonly details: Map<string, number>;
}

const order = ["create", "update", "unchanged", "skipped", "refused"] as const;

const titles = {
  create: "Create",
  update: "Update",
  unchanged: "Unchanged",
  skipped: "Skip",
  refused: "Refuse",
} as const;

const rowLine = ({ line, index, email = "(no address)", fields, reason }: PlannedRow): string => {
  const position = line === undefined ? `row ${index + 1}` : `line ${line}`;
  const detail = reason ?? fields?.join(", ");
  return `  ${position.padEnd(10)} ${visible(email)}${detail === undefined ? "" : `  ${visible(detail)}`}`;
};

/**
 * Formats a plan for people: the number of rows per result, by field or reason, and the first five rows of each result.
 *
 * @param rows - the rows of the plan. A line that could not be read has a reason.
 */
export const planTable = (rows: Iterable<PlannedRow>): string => {
  const groups = new Map<PlannedRow["result"], Group>();
  for (const row of rows) {
    const group: Group = groups.get(row.result) ?? { count: 0, rows: [], details: new Map() };
    groups.set(row.result, group);
    group.count += 1;
    if (group.rows.length < maxShown) group.rows.push(row);
    for (const detail of row.fields ?? (row.reason === undefined ? [] : [row.reason]))
      group.details.set(detail, (group.details.get(detail) ?? 0) + 1);
  }
  const width = Math.max(...[...groups.values()].map(({ count }) => grouped(count).length), 1);
  const summary = order.map((result) => {
    const { count, details } = groups.get(result) ?? { count: 0, details: new Map<string, number>() };
    const most = [...details].sort(([, a], [, b]) => b - a).slice(0, maxShown);
    const more = details.size > most.length ? `, and ${details.size - most.length} more` : "";
    const shown = most.map(([detail, times]) => `${visible(detail)} ${grouped(times)}`).join(", ");
    return `${titles[result].padEnd(10)} ${grouped(count).padStart(width)}${shown === "" ? "" : `  (${shown}${more})`}`;
  });
  const examples = order.flatMap((result) => {
    const group = groups.get(result);
    if (group === undefined || result === "unchanged") return [];
    const remaining = group.count - group.rows.length;
    return [
      "",
      titles[result],
      ...group.rows.map(rowLine),
      ...(remaining > 0 ? [`  … and ${grouped(remaining)} more; --json lists every row`] : []),
    ];
  });
  return `${[...summary, ...examples].join("\n")}\n`;
};
