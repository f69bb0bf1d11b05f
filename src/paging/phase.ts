import type { Search } from "./search.ts";

/** The state of a walk between two pages. */
export type Phase =
  /** The walk starts, or all yielded records are gone, so no page can join. */
  | { readonly is: "beginning" }
  /** The next page overlaps the end of the last one. */
  | { readonly is: "reading" }
  /** The next page did not overlap the last one. The walk searches around its position for a known record. */
  | { readonly is: "searching"; readonly search: Search }
  /** The search found an older known record, `age` records before the last one. Later known records may follow it. */
  | { readonly is: "approaching"; readonly search: Search; readonly age: number };

/** What a page shows about previously yielded records. */
export interface Sight {
  /**
   * The number of records yielded after the last known record on the page; infinite if the page has no known record.
   */
  readonly age: number;
  /** Whether the page begins before the position, so that it should contain a known record. */
  readonly overlaps: boolean;
  /** Whether the page shows that the service returns fewer records than assumed. */
  readonly isCut: boolean;
  /** While reading, a page joins if its last known record has at most this age. */
  readonly oldestJoin: number;
}

/** What a walk does with a page: yield the records after the last known one, search elsewhere, or read on. */
export type Move = "take" | "search" | "approach";

const none = Number.POSITIVE_INFINITY;

/** Decides what to do with a page in each phase. The design notes show the decisions as a table. */
export const moveOf = (phase: Phase, { age, overlaps, isCut, oldestJoin }: Sight): Move => {
  if (age === none) return overlaps || phase.is === "searching" ? "search" : "take";
  const isLost = phase.is === "searching" || phase.is === "approaching";
  if (age <= (isLost ? 0 : oldestJoin)) return "take";
  // Pages that are shorter than the steps of the search leave gaps between them, which may contain later records.
  if (isCut) return "search";
  return age < (phase.is === "approaching" ? phase.age : none) ? "approach" : "take";
};
