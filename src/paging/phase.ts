import type { Search } from "./search.ts";

/**
 * The state of a walk between two pages. A record is known if it was yielded before. A page joins if it continues
 * directly from the previous pages, so that all records after its last known record are new.
 */
export type Phase =
  /** The walk starts, or starts again because all yielded records are gone. The next page need not join. */
  | { readonly is: "beginning" }
  /** The next page overlaps the end of the last one. */
  | { readonly is: "reading" }
  /** A page did not join. The walk searches around its position for a known record. */
  | { readonly is: "searching"; readonly search: Search }
  /** A page showed a known record that is too old to join: `age` records were yielded after it. */
  | { readonly is: "approaching"; readonly search: Search; readonly age: number };

/** What a page shows about previously yielded records. */
export interface Sight {
  /**
   * The number of records yielded after the last known record on the page; infinite if the page has no known record.
   */
  readonly age: number;
  /** Whether the page begins before the position, so that it should contain a known record. */
  readonly overlaps: boolean;
  /** Whether the page shows that the service's pages are shorter than assumed. */
  readonly isCut: boolean;
  /** While the walk is beginning or reading, a page joins if its `age` is at most this. */
  readonly maxJoinAge: number;
}

/** What a walk does with a page: yield the records after the last known one, search elsewhere, or read on. */
export type Move = "take" | "search" | "approach";

const none = Number.POSITIVE_INFINITY;

/** Decides what to do with a page in each phase. The design notes show the decisions as a table. */
export const moveOf = (phase: Phase, { age, overlaps, isCut, maxJoinAge }: Sight): Move => {
  if (age === none) return overlaps || phase.is === "searching" ? "search" : "take";
  const isLost = phase.is === "searching" || phase.is === "approaching";
  if (age <= (isLost ? 0 : maxJoinAge)) return "take";
  // Pages that are shorter than the steps of the search leave gaps between them, which may contain newer known records.
  if (isCut) return "search";
  return age < (phase.is === "approaching" ? phase.age : none) ? "approach" : "take";
};
