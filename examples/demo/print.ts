const isTerminal = process.stdout.isTTY === true && process.env.NO_COLOR === undefined;
const style = (code: number, text: string): string => (isTerminal ? `\u001b[${code}m${text}\u001b[0m` : text);

export const bold = (text: string): string => style(1, text);
export const dim = (text: string): string => style(2, text);
export const grouped = (count: number): string => count.toLocaleString("en-US");
export const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

export const print = (text = ""): void => console.log(text);

/** Prints a fact, and whether it is right. */
export const printCheck = (isRight: boolean, fact: string): void =>
  print(`  ${isRight ? style(32, "✓") : style(31, "✗ WRONG:")} ${fact}`);

/** Prints names and values in two columns. */
export const printTable = (values: Readonly<Record<string, string | number>>): void => {
  const width = Math.max(...Object.keys(values).map((name) => name.length));
  for (const [name, value] of Object.entries(values)) {
    print(`  ${dim(name.padEnd(width))}  ${typeof value === "number" ? grouped(value) : value}`);
  }
};
