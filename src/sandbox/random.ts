/** Returns numbers from 0 to below 1, the same sequence for the same seed. */
export type Random = () => number;

/** Creates a small generator, a multiplicative hash of a counter. Without a seed, each sandbox gets other numbers. */
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
