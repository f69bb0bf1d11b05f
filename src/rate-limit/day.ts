// A day's use in slots of five minutes, each for a day after its end. The document does not say when a day starts, so a
// limit applies to any 24 hours; this satisfies every reading of it.

export const dayMs = 86_400_000;
// A day is 288 slots, and one more that has begun.
export const slotMs = 300_000;

/** The numbers of the slots that were used, oldest first, each followed by what was counted in it. */
export type DaySlots = readonly number[];

/** What is counted in all slots. */
export const sumOfSlots = (slots: DaySlots): number => {
  let sum = 0;
  for (let at = 1; at < slots.length; at += 2) sum += slots[at] ?? 0;
  return sum;
};

/** The slots without those that have expired. */
export const currentSlots = (slots: DaySlots, now: number): DaySlots => {
  const oldest = Math.floor((now - dayMs) / slotMs);
  let gone = 0;
  while ((slots[gone] ?? oldest) < oldest) gone += 2;
  return gone > 0 ? slots.slice(gone) : slots;
};

/**
 * The slots with `weight` more. A negative weight returns what was not used: that was counted last. What it returns beyond
 * that was forgotten a day ago.
 */
export const chargedSlots = (slots: DaySlots, now: number, weight: number): DaySlots => {
  const slot = Math.floor(now / slotMs);
  const isNew = weight > 0 && (slots.at(-2) ?? Number.NEGATIVE_INFINITY) < slot;
  // Neither leaves room to grow, which thousands of keys would keep.
  const charged = isNew ? slots.concat(slot, 0) : slots.slice();
  for (let left = weight; left !== 0 && charged.length > 0; ) {
    const count = charged.pop() ?? 0;
    const change = Math.max(left, -count);
    if (count + change > 0) charged.push(count + change);
    else charged.pop();
    left -= change;
  }
  return charged;
};

/** In how many milliseconds the oldest slots that hold `weight` together have expired; 0 if they hold less. */
export const slotsFreeInMs = (slots: DaySlots, now: number, weight: number): number => {
  let left = weight;
  for (let at = 0; left > 0 && at < slots.length; at += 2) {
    left -= slots[at + 1] ?? 0;
    if (left <= 0) return ((slots[at] ?? 0) + 1) * slotMs + dayMs - now;
  }
  return 0;
};
