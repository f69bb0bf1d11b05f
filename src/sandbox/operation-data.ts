import type { Operation } from "../service/define.ts";

/** The part of an operation that the sandbox goes by: where it is, what it needs and what it draws on. */
export type OperationData = Pick<Operation<never, unknown>, "id" | "method" | "path" | "scope" | "budgets">;
