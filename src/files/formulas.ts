// What a spreadsheet may take for the start of a formula, also in full width, behind any apostrophes.
const guarded = /^'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;

// csv-stringify guards the others. It leaves the line feed, and texts that have an apostrophe of their own there, which
// the reader would take for a guard.
const unguardedByVendor = /^(?:\n|'+[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20])/;

/** Puts an apostrophe before text that csv-stringify's `escape_formulas` leaves without. */
export const guardFormula = (text: string): string => (unguardedByVendor.test(text) ? `'${text}` : text);

/** Takes away the one apostrophe that the writer, or another program's guard, put there. */
export const unguardFormula = (text: string): string =>
  text.startsWith("'") && guarded.test(text) ? text.slice(1) : text;
