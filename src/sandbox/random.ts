/** Returns numbers from 0 to below 1, the same sequence for the same seed. */
export type Random = () => number;

/** A small generator (a multiplicative hash of a counter); without a seed every sandbox differs. */
export const createRandom = (seed: number | undefined): Random => {
  let counter = seed === undefined ? Math.floor(Math.random() * 2 ** 32) : seed >>> 0;
  return () => {
    counter = (counter + 0x9e3779b9) >>> 0;
    let mixed = counter;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
  };
};

/** Creates opaque ids: a counter makes them unique, a random part hides their order. */
export type NewId = (prefix: string) => string;

/** The ids of a sandbox. */
export interface Ids {
  /** How many ids were created; set when a snapshot is loaded. */
  count: number;
  readonly next: NewId;
}

export const createIds = (random: Random): Ids => {
  const ids: Ids = {
    count: 0,
    next: (prefix) => {
      ids.count += 1;
      const tail = Math.floor(random() * 36 ** 5)
        .toString(36)
        .padStart(5, "0");
      return `${prefix}_${tail}${ids.count.toString(36)}`;
    },
  };
  return ids;
};
