const isTerminal = process.stdout.isTTY === true && process.env.NO_COLOR === undefined;
const style = (code: number, text: string): string => (isTerminal ? `\u001b[${code}m${text}\u001b[0m` : text);

export const bold = (text: string): string => style(1, text);
export const dim = (text: string): string => style(2, text);
export const grouped = (count: number): string => count.toLocaleString("en-US");
export const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

export const say = (text = ""): void => console.log(text);

/** Says whether something is as it must be. */
export const sayCheck = (isRight: boolean, fact: string): void =>
  say(`  ${isRight ? style(32, "✓") : style(31, "✗ WRONG:")} ${fact}`);

/** Says names and values, the values under each other. */
export const sayTable = (values: Readonly<Record<string, string | number>>): void => {
  const width = Math.max(...Object.keys(values).map((name) => name.length));
  for (const [name, value] of Object.entries(values)) {
    say(`  ${dim(name.padEnd(width))}  ${typeof value === "number" ? grouped(value) : value}`);
  }
};
