import { type Issue, ResponseValidationError, ValidationError } from "../errors.ts";
import type { AbortedWork } from "../runtime/cancellation.ts";
import { describeIssues } from "../service/check.ts";

/** @throws ValidationError naming every issue, if there is one. */
export const throwIfInvalid = (operation: string, issues: readonly Issue[]): void => {
  if (issues.length > 0)
    throw new ValidationError(`${operation}: ${describeIssues(issues)}`, { operation, issues });
};

/** A refused input belongs to the method that was called, and not to the request that it would have made. */
export const withOperation = (operation: string, error: unknown): unknown => {
  if (!(error instanceof ValidationError) || error.operation === undefined) return error;
  const said = error.message.slice(error.operation.length);
  return new ValidationError(operation + said, { operation, issues: error.issues, cause: error.cause });
};

/** For an answer of `null` or a word: in place of a record it would fail far from here. */
export const missingRecordError = (work: AbortedWork, status: number): ResponseValidationError =>
  new ResponseValidationError(
    `${work.operation}: the service answered ${status} with JSON that holds no record`,
    { ...work, status },
  );
