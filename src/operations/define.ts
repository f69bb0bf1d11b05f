import type { Schema } from "../schemas/common.ts";

export type Method = "GET" | "POST" | "PATCH" | "PUT" | "DELETE";

/** The scopes of the service document, Authentication. */
export type Scope = "contacts:write" | "leads:write" | "lists:write" | "events:write" | "email:write";

/** A short-window budget that a request spends; each has a day's budget beside it. */
export type BudgetName = "requests" | "emails" | "events";

/**
 * What a repeat would do: `safe` changes nothing, `idempotent` sets the same again, `keyed` is recognised by its
 * id, `never` may have its effect twice.
 */
export type ReplayClass = "safe" | "idempotent" | "keyed" | "never";

/** One API operation as data, to be checked against the service document by reading. */
export interface Operation<Input = unknown, Output = unknown> {
  /** The name a user types, and the key of `routes`. */
  readonly id: string;
  readonly method: Method;
  /** Appended to the base URL; `:id` is replaced by one encoded path segment. */
  readonly path: string;
  /** The scope or scopes the key needs; empty where the document does not say. */
  readonly scope: readonly Scope[];
  readonly replay: ReplayClass | ((input: Input) => ReplayClass);
  readonly budgets: readonly BudgetName[];
  /** How much of the last budget one request spends; 1 where not given. */
  readonly weight?: (input: Input) => number;
  /** `inferred`: the document names the operation, not its path or method. `routes` corrects it. */
  readonly evidence: "documented" | "inferred";
  /** The query of a GET, the JSON body of anything else. */
  readonly input: Schema<Input>;
  /** The answer, once `read` has brought it into shape. */
  readonly output: Schema<Output>;
  /** Brings another plausible shape of the answer into the documented one. */
  readonly read?: (body: unknown) => unknown;
  /** An answer may come without a body. */
  readonly mayBeEmpty?: boolean;
}

/** Declares an operation; the types of its input and output come from the schemas. */
export const operation = <Input, Output>(definition: Operation<Input, Output>): Operation<Input, Output> =>
  definition;
