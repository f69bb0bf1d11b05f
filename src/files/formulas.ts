// What a spreadsheet takes for the start of a formula, also in full width, after any apostrophes of an earlier guard.
const dangerous = /^'*[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/;

// A phone number or a signed number can at worst be computed: no function, cell or command can be named without letters.
const harmless = /^[+-][\d .()-]*$/;

/** Puts an apostrophe before text that a spreadsheet would run as a formula. `unguardFormula` takes it away again. */
export const guardFormula = (text: string): string =>
  dangerous.test(text) && !harmless.test(text) ? `'${text}` : text;

/** Takes away the one apostrophe that `guardFormula`, or another program's guard, put there. */
export const unguardFormula = (text: string): string =>
  text.startsWith("'") && dangerous.test(text) ? text.slice(1) : text;
