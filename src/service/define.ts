import type { Schema } from "./common.ts";

/**
 * What the service document names without giving its path or method, and what of it is inferred. `routes` corrects a
 * path; the answers are read leniently.
 */
export const inferred: Readonly<Record<string, string>> = {
  "companies.create": "path and method",
  "companies.findByDomain": "path, method and answer",
  "lists.create": "path and method",
  "emails.scheduled.list": "method and answer",
  "emails.scheduled.update": "method, body and answer",
  "emails.scheduled.cancel": "method and answer",
};

/** An HTTP method. */
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

/** What was asked for: an answer that leaves some of it out is filled in from here. */
export interface Asked {
  /** The id in the path. */
  readonly id?: string;
  /** The query or body. */
  readonly payload: unknown;
}

/** What an operation says of itself, whatever its types. */
export interface OperationFacts {
  /** The name a user types, and the key of `routes`. */
  readonly id: string;
  /** Of the request. */
  readonly method: Method;
  /** Appended to the base URL; `:id` is replaced by one encoded path segment. */
  readonly path: string;
  /** The scope or scopes the key needs; empty where the document does not say. */
  readonly scope: readonly Scope[];
  /** What a request spends, the narrowest last. */
  readonly budgets: readonly BudgetName[];
  /** `inferred`: the document names the operation, not its path or method; `inferred` lists them. */
  readonly evidence: "documented" | "inferred";
  /** Brings what is accepted into the form that is sent. */
  readonly write?: (payload: unknown) => unknown;
  /** Makes ids strings, fills in what the request says, and brings an answer of no documented shape into one. */
  readonly read?: (body: unknown, asked: Asked) => unknown;
  /** A 404 after an unclear attempt says that the first one did it. */
  readonly notFoundMeansDone?: boolean;
  /** An answer may come without a body. */
  readonly mayBeEmpty?: boolean;
}

/** One API operation as data, to be checked against the service document by reading. */
export interface Operation<Input, Output> extends OperationFacts {
  /** What a repeat would do, where it depends on the input by it. */
  readonly replay: ReplayClass | ((input: Input) => ReplayClass);
  /** How much of the last budget one request spends; 1 where not given. */
  readonly weight?: (input: Input) => number;
  /** The query of a GET, the JSON body of anything else. */
  readonly input: Schema<Input>;
  /** The answer, once `read` has brought it into shape. */
  readonly output: Schema<Output>;
}

/** Declares an operation; the types of its input and output come from the schemas. */
export const operation = <Input, Output>(
  definition: Omit<Operation<Input, Output>, "evidence">,
): Operation<Input, Output> => ({
  ...definition,
  evidence: Object.hasOwn(inferred, definition.id) ? "inferred" : "documented",
});
