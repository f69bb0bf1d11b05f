import { maxRetries } from "./expected.ts";
import { type Group, legend, tableOf } from "./table.ts";

/** The page that a run of the matrix prints. */
export const faultsDocument = (found: {
  readonly cells: number;
  readonly faults: readonly Group[];
  readonly moments: readonly Group[];
}): string => `# Every operation under every fault

Printed by \`test/e2e/faults/matrix.test.ts\` from what it found in ${found.cells.toLocaleString("en")} cells over real sockets, and checked against the
contract's table; do not edit. \`UPDATE_DOCS=1 npx vitest run --project e2e test/e2e/faults\` writes it again.

Each entry says what the call told its caller (a response, or an error and its \`outcome\`), how many requests reached the
service, and how often the effect happened by the service's own record. \`maxRetries\` is ${maxRetries}. In every cell the call
settled by its deadline, no request came before its \`Retry-After\`, \`not-applied\` was never said of something applied, and
after \`close()\` no socket, timer or listener was left. Rows that begin with "strict" ran with
\`responseValidation: "strict"\`.

${legend()}

## Faults

${tableOf(["Fault", "Operations", "It hits the first request", "It hits every request"], found.faults)}

## Ended from outside, at every moment

${tableOf(["Moment", "Operations", "The caller aborts", "`totalTimeoutMs` is over"], found.moments)}
`;
