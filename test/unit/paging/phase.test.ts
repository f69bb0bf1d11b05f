import { expect, test } from "vitest";
import { type Move, moveOf, type Phase, type Sight } from "../../../src/paging/phase.ts";
import { Search } from "../../../src/paging/search.ts";

const search = new Search(400, 200);
const beginning: Phase = { is: "beginning" };
const reading: Phase = { is: "reading" };
const searching: Phase = { is: "searching", search };
const approaching: Phase = { is: "approaching", search, age: 10 };

const none = Number.POSITIVE_INFINITY;
const cut = { isCut: true };
const alone = { overlaps: false };

test.each<[what: string, phases: readonly Phase[], age: number, over: Partial<Sight>, move: Move]>([
  [
    "a page that should not overlap shows only new records",
    [beginning, reading, approaching],
    none,
    alone,
    "take",
  ],
  ["a page that should overlap shows no known record", [reading, approaching], none, {}, "search"],
  ["a page of a search shows no known record", [searching], none, alone, "search"],
  ["a page joins at the last record, cut or not", [reading, searching, approaching], 0, cut, "take"],
  ["a page joins at a record among the last ones, cut or not", [reading], 1_000, cut, "take"],
  ["an older record is a place to look on from", [reading], 1_001, {}, "approach"],
  ["in a search any older record is", [searching], 1, {}, "approach"],
  ["a later record may be followed by one still later", [approaching], 9, {}, "approach"],
  ["the latest record left has been found before", [approaching], 10, {}, "take"],
  ["a cut page leaves a gap behind it", [searching, approaching], 1, cut, "search"],
  ["an old record in a cut page is searched around", [reading], 1_001, cut, "search"],
])("%s", (_what, phases, age, over, move) => {
  const sight = { age, overlaps: true, isCut: false, maxJoinAge: 1_000, ...over };
  for (const phase of phases) expect([phase.is, moveOf(phase, sight)]).toEqual([phase.is, move]);
});
