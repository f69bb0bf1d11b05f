/** How the program ends. */
export const exitCode = {
  ok: 0,
  failed: 1,
  wrongUsage: 2,
  /** Everything was dealt with, and some records were refused. */
  someRejected: 3,
  /** As shells count SIGINT: 128 + 2. */
  interrupted: 130,
  /** As shells count SIGPIPE: 128 + 13. */
  brokenPipe: 141,
} as const;

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];
