/** Which calls go first if a limit is short: `interactive` before `background`. */
export type Priority = "interactive" | "background";

/** A number for each priority. */
export type ByPriority = Readonly<Record<Priority, number>>;
