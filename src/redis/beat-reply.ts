/** What the store answers to a heartbeat. */
export interface BeatReply {
  /** Names the store's memory: another name means that it has lost it. */
  readonly born: string;
  readonly grant: number;
  readonly give: number;
  readonly pausedForMs: number;
  /** `closed` while another process tries after a pause, `probe` when this one is to try. */
  readonly gate: "open" | "closed" | "probe";
  readonly dayTotal: number;
  readonly dayFreesInMs: number;
  readonly busyElsewhere: number;
  /** On the store's clock: tells one pause from another. */
  readonly pausedUntil: string;
  readonly pausedBy: string;
  /** Before that no permits come, to whoever has too few for its next request. */
  readonly comesInMs: number;
}

/** @throws TypeError when it is not an answer of the budget script. */
export const beatReply = (raw: unknown): BeatReply => {
  if (!Array.isArray(raw)) throw new TypeError("the budget script answered something else");
  const [born, grant, give, pausedForMs, gate, ...rest] = raw.map(String);
  const [dayTotal, dayFreesInMs, busyElsewhere, pausedUntil, pausedBy, comesInMs] = rest;
  return {
    born: born ?? "",
    grant: Number(grant),
    give: Number(give),
    pausedForMs: Number(pausedForMs),
    gate: gate === "1" ? "closed" : gate === "2" ? "probe" : "open",
    dayTotal: Number(dayTotal),
    dayFreesInMs: Number(dayFreesInMs),
    busyElsewhere: Number(busyElsewhere),
    pausedUntil: pausedUntil ?? "",
    pausedBy: pausedBy ?? "",
    comesInMs: Number(comesInMs),
  };
};
