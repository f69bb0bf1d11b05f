/** The packages that are compiled into `dist/`, with what they bring along; all others stay outside. */
export const bundled: readonly string[] = [
  "undici",
  "zod",
  "p-retry",
  "is-network-error",
  "bottleneck",
  "csv-parse",
  "csv-stringify",
];

/** Matches an import of a bundled package, or of a file in it. */
export const bundledImport = new RegExp(`^(${bundled.join("|")})(/|$)`);
