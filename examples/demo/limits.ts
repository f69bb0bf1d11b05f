const times = { documented: 1, fast: 10 };

/** The limits of the demo's sandbox and of its clients: as documented, or ten times as high. */
export const limitsAt = (speed: string | undefined) => {
  const factor = times[speed === "fast" ? "fast" : "documented"];
  return {
    requests: { max: 100 * factor, windowMs: 10_000 },
    events: { max: 50 * factor, windowMs: 1_000 },
  };
};
