import type { RequestInput, Schema } from "./common.ts";

/**
 * The operations that the service document names without a path or method, and what is inferred. `routes` corrects a
 * path; several response shapes are accepted.
 */
export const inferred: Readonly<Record<string, string>> = {
  "companies.create": "path and method",
  "companies.findByDomain": "path, method and response",
  "lists.create": "path and method",
  "emails.scheduled.list": "method and response",
  "emails.scheduled.update": "method, body and response",
  "emails.scheduled.cancel": "method and response",
};

/** An HTTP method. */
export type Method = "GET" | "POST" | "PATCH" | "PUT" | "DELETE";

/** The scopes of the service document, Authentication. */
export type Scope = "contacts:write" | "leads:write" | "lists:write" | "events:write" | "email:write";

/** A short-window limit that a request spends; each has a daily limit too. */
export type BudgetName = "requests" | "emails" | "events";

/**
 * What a repeat would do: `safe` changes nothing, `idempotent` sets the same values again, `keyed` is recognized by its
 * id, `never` could take effect twice.
 */
export type ReplayClass = "safe" | "idempotent" | "keyed" | "never";

/** The facts of an operation, without its types. */
export interface OperationFacts {
  /** The name a user types, and the key of `routes`. */
  readonly id: string;
  /** The method of the request. */
  readonly method: Method;
  /** Appended to the base URL; `:id` is replaced by one encoded path segment. */
  readonly path: string;
  /** The scopes that the key needs; empty if the document does not say. */
  readonly scope: readonly Scope[];
  /** The limits that a request spends, the narrowest last. */
  readonly budgets: readonly BudgetName[];
  /** A 429 that outlasts the narrowest limit's window stops this operation only, and no other that spends the limit. */
  readonly stopsAlone?: boolean;
  /** Converts accepted input to the form that is sent. */
  readonly write?: (payload: unknown) => unknown;
  /** Converts ids to strings, fills in what the request says, and normalizes a response of undocumented shape. */
  readonly read?: (body: unknown, request: RequestInput) => unknown;
  /** A 404 after an attempt with a lost response means that the first attempt succeeded. */
  readonly notFoundMeansDone?: boolean;
  /** Belongs to emails: guards and dry runs apply, browsers are refused, and a 502 may be the mail account's own. */
  readonly isEmail?: boolean;
  /** What the workspace's schemas type in the input; `checked`: it has been checked part by part. */
  readonly typedInput?: "contact" | "event" | "checked";
  /** What they type in the response. */
  readonly typedOutput?: "contact" | "page";
  /** Custom fields may be a part of what the workspace's schema requires; `null` clears a key. */
  readonly isPartial?: boolean;
  /** A response may have no body. */
  readonly mayBeEmpty?: boolean;
}

/** One API operation as data, so that a reader can check it against the service document. */
export interface Operation<Input, Output> extends OperationFacts {
  /** What a repeat would do; a function if it depends on the input. */
  readonly replay: ReplayClass | ((input: Input) => ReplayClass);
  /** How much of the last limit one request spends; default 1. */
  readonly weight?: (input: Input) => number;
  /** The query of a GET, the JSON body of anything else. */
  readonly input: Schema<Input>;
  /** The response, after `read`. */
  readonly output: Schema<Output>;
}

type Declared<Input, Output> = Omit<
  Operation<Input, Output>,
  "id" | "method" | "path" | "scope" | "budgets"
> &
  Partial<Pick<OperationFacts, "scope" | "budgets">>;

/**
 * Declares an operation; the types of its input and output come from the schemas.
 *
 * @param endpoint - as the document writes it: `PATCH /api/v1/contacts/:id`.
 * @param definition - by default a request needs no documented scope, and spends the limit `requests`.
 */
export const operation = <Input, Output>(
  id: string,
  endpoint: `${Method} /${string}`,
  definition: Declared<Input, Output>,
): Operation<Input, Output> => {
  // The type of the endpoint says so.
  const [method, path] = endpoint.split(" ") as [Method, string];
  return { scope: [], budgets: ["requests"], ...definition, id, method, path };
};
