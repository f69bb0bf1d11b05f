/** Which calls are sent first when calls wait for a limit: `interactive` before `background`. */
export type Priority = "interactive" | "background";

/** A number for each priority. */
export type ByPriority = Readonly<Record<Priority, number>>;
