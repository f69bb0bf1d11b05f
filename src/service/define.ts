import type { RequestInput, Schema } from "./common.ts";

/**
 * The operations that the service document does not describe completely, with the parts that are inferred. The option
 * `routes` corrects a method or a path. The library accepts several shapes of the responses.
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

/** A short-window limit that a request spends. Each has a daily limit, too. */
export type BudgetName = "requests" | "emails" | "events";

/**
 * The effect of a repeated request: `safe` changes nothing, `idempotent` sets the same values again, `keyed` is
 * recognized by its id, and `never` could take effect twice.
 */
export type ReplayClass = "safe" | "idempotent" | "keyed" | "never";

/** The properties of an operation that do not depend on the types of its input and output. */
export interface OperationFacts {
  /** The name of the method, which is also the key for `routes`. */
  readonly id: string;
  /** The method of the request. */
  readonly method: Method;
  /** The path below the base URL. One encoded path segment replaces `:id`. */
  readonly path: string;
  /** The scopes that the key needs; empty if the document names none. */
  readonly scope: readonly Scope[];
  /** The limits that a request spends, the narrowest last. */
  readonly budgets: readonly BudgetName[];
  /**
   * Whether a long pause that the service asks for stops only operations with this property, and not all operations
   * that spend the same limits. A pause is long if it exceeds the window of the narrowest limit.
   */
  readonly stopsAlone?: boolean;
  /** Converts accepted input to the form that is sent. */
  readonly write?: (payload: unknown) => unknown;
  /** Converts ids to strings, adds missing parts from the request, and normalizes a response of undocumented shape. */
  readonly read?: (body: unknown, request: RequestInput) => unknown;
  /** Whether a 404 after an attempt with a lost response means that the first attempt succeeded. */
  readonly notFoundMeansDone?: boolean;
  /**
   * Whether the operation is about emails: guards and dry runs apply, the service refuses browsers, and a 502 may be
   * about the mail account.
   */
  readonly isEmail?: boolean;
  /** Whether guards and dry runs apply, although the operation may not be about emails. */
  readonly mayBeEmail?: boolean;
  /** The part of the input that the workspace's schemas check. `checked`: each part has been checked before. */
  readonly typedInput?: "contact" | "event" | "checked";
  /** The part of the response that the workspace's schemas check. */
  readonly typedOutput?: "contact" | "page";
  /**
   * Whether the input may have only some of the custom fields that the workspace's schema requires. `null` clears a
   * key.
   */
  readonly isPartial?: boolean;
  /** Whether a response may have no body. */
  readonly mayBeEmpty?: boolean;
}

/** One API operation as data, so that a reader can check it against the service document. */
export interface Operation<Input, Output> extends OperationFacts {
  /** The effect of a repeated request; a function if it depends on the input. */
  readonly replay: ReplayClass | ((input: Input) => ReplayClass);
  /** How much a request spends of the last limit in `budgets`. Default 1. */
  readonly weight?: (input: Input) => number;
  /** The schema of the query of a GET, or of the JSON body of another method. */
  readonly input: Schema<Input>;
  /** The schema of the response, after `read`. */
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
 * @param endpoint - the endpoint, as the document writes it: `PATCH /api/v1/contacts/:id`.
 * @param definition - by default a request needs no documented scope, and spends the limit `requests`.
 */
export const operation = <Input, Output>(
  id: string,
  endpoint: `${Method} /${string}`,
  definition: Declared<Input, Output>,
): Operation<Input, Output> => {
  // The type of `endpoint` ensures this.
  const [method, path] = endpoint.split(" ") as [Method, string];
  return { scope: [], budgets: ["requests"], ...definition, id, method, path };
};
