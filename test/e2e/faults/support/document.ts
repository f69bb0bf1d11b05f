import { maxRetries } from "./expected.ts";
import { type Group, legend, tableOf } from "./table.ts";

/** The page that a run of the matrix prints. */
export const faultsDocument = (found: {
  readonly cells: number;
  readonly faults: readonly Group[];
  readonly moments: readonly Group[];
}): string => `# How each operation behaves under each fault

\`test/e2e/faults/matrix.test.ts\` writes this page. Do not edit it. The test runs ${found.cells.toLocaleString("en")} cells over real sockets, and compares the results
with the contract's table. To update the page, run \`UPDATE_DOCS=1 npx vitest run --project e2e test/e2e/faults\`.

Each cell shows what the caller got (a response, or an error and its \`outcome\`), how many requests reached the service, and
how often the service applied the operation, according to its own records. \`maxRetries\` is ${maxRetries}. In every cell, the call
settled by its deadline, and no request was sent before its \`Retry-After\`. The outcome was never \`not-applied\` if the service
had applied the operation. After \`close()\`, no socket, timer or listener was left. Rows that start with "strict" ran with
\`responseValidation: "strict"\`.

${legend()}

## Faults

${tableOf(["Fault", "Operations", "If it hits the first request", "If it hits every request"], found.faults)}

## Aborts and timeouts at each moment of a call

${tableOf(["Moment", "Operations", "If the caller aborts", "If `totalTimeoutMs` is over"], found.moments)}
`;
