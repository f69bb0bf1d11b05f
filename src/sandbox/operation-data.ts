import type { Operation } from "../service/define.ts";

/** The part of an operation that the sandbox uses: its route, scope, budgets and weight. */
export type OperationData = Pick<
  Operation<never, unknown>,
  "id" | "method" | "path" | "scope" | "budgets" | "weight"
>;
