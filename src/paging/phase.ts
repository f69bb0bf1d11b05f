import type { Search } from "./search.ts";

/** Where a walk stands between two pages. */
export type Phase =
  /** At the start, and where all that was yielded is gone: no page can be joined. */
  | { readonly is: "beginning" }
  /** The next page overlaps the end of the last one. */
  | { readonly is: "reading" }
  /** The next page did not overlap the last one: the walk searches around its position for a known record. */
  | { readonly is: "searching"; readonly search: Search }
  /** An older known record was found, `age` records before the last one; later ones may follow it. */
  | { readonly is: "approaching"; readonly search: Search; readonly age: number };

/** What a page shows of the records yielded before. */
export interface Sight {
  /** How many records were yielded after the last known one in the page; infinite if it shows none. */
  readonly age: number;
  /** Whether the page begins before the position, so that it should show a known record. */
  readonly overlaps: boolean;
  /** Whether the page shows that the service returns fewer records than assumed. */
  readonly isCut: boolean;
  /** While reading, a page joins if it shows a record of this age at most. */
  readonly oldestJoin: number;
}

/** What a walk does with a page: yield what follows the last known record, look elsewhere, or look further on. */
export type Move = "take" | "search" | "approach";

const none = Number.POSITIVE_INFINITY;

/** The protocol of a walk: what to do with a page in each phase. The design notes show it as a table. */
export const moveOf = (phase: Phase, { age, overlaps, isCut, oldestJoin }: Sight): Move => {
  if (age === none) return overlaps || phase.is === "searching" ? "search" : "take";
  const isLost = phase.is === "searching" || phase.is === "approaching";
  if (age <= (isLost ? 0 : oldestJoin)) return "take";
  // Pages shorter than the steps of the search leave gaps between them: later records may be there.
  if (isCut) return "search";
  return age < (phase.is === "approaching" ? phase.age : none) ? "approach" : "take";
};
