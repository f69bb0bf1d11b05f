/** Who goes first where a limit is short: `interactive` calls before `background` ones. */
export type Priority = "interactive" | "background";

/** A number for each priority. */
export type ByPriority = Readonly<Record<Priority, number>>;
