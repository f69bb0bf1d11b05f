import { isSet, type Request } from "./cli-command.ts";

type Report = Readonly<Record<string, string | number>>;

/** `tooOld` as `too old`. */
const words = (name: string): string => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

const shown = (value: string | number): string =>
  typeof value === "number" ? value.toLocaleString("en-US") : value;

/** A report as lines of names and values. */
export const describeReport = ({ elapsedMs, ...report }: Report): string => {
  const rows = Object.entries(report).map(([name, value]) => [words(name), shown(value)] as const);
  if (typeof elapsedMs === "number") rows.push(["took", `${(elapsedMs / 1_000).toFixed(1)} s`]);
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join("");
};

/** Writes a report for people, or with `--json` as one line for machines. */
export const writeReport = (request: Request, report: object): void => {
  const values: Report = Object.fromEntries(
    Object.entries(report).map(([name, value]) => [name, name === "elapsedMs" ? Math.round(value) : value]),
  );
  request.stdout.write(isSet(request, "json") ? `${JSON.stringify(values)}\n` : describeReport(values));
};
