/** A person in the demo's workspace. */
export interface Person {
  readonly email: string;
  readonly name: string;
  readonly title: string;
  readonly customFields: { readonly plan: string; readonly seats: number };
}

const firstNames = "Ada Alan Barbara Claude Donald Edsger Frances Grace Hedy John Katherine Leslie".split(
  " ",
);
const lastNames =
  "Allen Dijkstra Hamilton Hopper Johnson Knuth Lamarr Lamport Liskov Lovelace McCarthy Shannon Turing".split(
    " ",
  );
const titles = ["Founder", "Head of Sales", "Engineer", "Office Manager", "Buyer"];
const plans = [
  { plan: "free", seats: 1 },
  { plan: "team", seats: 12 },
  { plan: "business", seats: 80 },
];

const pick = <T>(from: readonly T[], index: number): T => {
  const picked = from[index % from.length];
  if (picked === undefined) throw new RangeError("nothing to pick from");
  return picked;
};

/** Person number `index`, the same on every run; no two share an address. */
export const person = (index: number): Person => {
  const first = pick(firstNames, index);
  // 12 first names and 13 last names give 156 pairs before one repeats.
  const last = pick(lastNames, index);
  return {
    email: `${first}.${last}.${index}@example.com`.toLowerCase(),
    name: `${first} ${last}`,
    title: pick(titles, Math.floor(index / 5)),
    customFields: pick(plans, Math.floor(index / 3)),
  };
};
