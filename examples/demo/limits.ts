const times = { documented: 1, fast: 10 };

/** The limits that the demo's sandbox keeps and its clients pace themselves to: as documented, or ten times that. */
export const limitsAt = (speed: string | undefined) => {
  const factor = times[speed === "fast" ? "fast" : "documented"];
  return {
    requests: { max: 100 * factor, windowMs: 10_000 },
    events: { max: 50 * factor, windowMs: 1_000 },
  };
};
