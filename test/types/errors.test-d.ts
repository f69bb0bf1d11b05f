import {
  type ApiError,
  type ApiErrorCode,
  ConfigurationError,
  type ConnectionError,
  type ErrorCode,
  isTouchpointError,
  NotFoundError,
  type Outcome,
  RateLimitError,
  ResponseValidationError,
  ServiceUnavailableError,
  TimeoutError,
  TouchpointError,
  ValidationError,
} from "touchpoint-sdk";
import { expectTypeOf, test } from "vitest";

const answered = { status: 429, headers: new Headers(), body: undefined };

test("an error is known as one of the library's before its fields are read", () => {
  const read = (error: unknown) => {
    // @ts-expect-error not known yet
    error.attempts;
    if (isTouchpointError(error)) expectTypeOf(error).toExtend<TouchpointError>();
    if (error instanceof RateLimitError) expectTypeOf(error.retryAfterMs).toEqualTypeOf<number | undefined>();
  };
  read(new Error("any"));
  // @ts-expect-error what error?
  isTouchpointError();
});

test("a code identifies an error, also from another copy of the package", () => {
  const read = (error: unknown) => {
    if (!isTouchpointError(error)) return;
    if (error.code === "rate_limited") expectTypeOf(error).toEqualTypeOf<RateLimitError>();
    if (error.code === "input_invalid") expectTypeOf(error).toEqualTypeOf<ValidationError>();
    if (error.code === "api_error" || error.code === "conflict") expectTypeOf(error.status).toBeNumber();
    // @ts-expect-error a connection error has no status
    if (error.code === "connection_failed") error.status;
    if (error instanceof TimeoutError) expectTypeOf(error).toEqualTypeOf<TimeoutError>();
  };
  read(new Error("any"));
  expectTypeOf<ErrorCode>().not.toBeAny();
});

test("the codes of errors are literals, and their outcomes two", () => {
  expectTypeOf<NotFoundError["code"]>().toEqualTypeOf<"not_found">();
  expectTypeOf<RateLimitError["code"] | TimeoutError["code"]>().toEqualTypeOf<"rate_limited" | "timeout">();
  expectTypeOf<TouchpointError["code"]>().toEqualTypeOf<ErrorCode>();
  expectTypeOf<ApiError["code"]>().toEqualTypeOf<ApiErrorCode>();
  expectTypeOf<ConnectionError["code"]>().toEqualTypeOf<"connection_failed" | "timeout">();
  // @ts-expect-error no such code
  "rate_limit" satisfies ErrorCode;
  expectTypeOf<TouchpointError["outcome"]>().toEqualTypeOf<"not-applied" | "unknown">();
  // @ts-expect-error no such outcome
  "applied" satisfies Outcome;
});

test("an error for tests of one's own is made with what its class tells", () => {
  new ConfigurationError("wrong");
  new NotFoundError("gone", { ...answered, status: 404, operation: "contacts.update" });
  new RateLimitError("too many", { ...answered, retryAfterMs: 1_000 });
  new ServiceUnavailableError("later", { ...answered, retryAfterMs: undefined });
  new ResponseValidationError("garbage", { status: 200 });
  new ValidationError("input", { issues: [{ path: "email", message: "must be a string" }] });
  // @ts-expect-error the root of them all
  new TouchpointError("any");
  // @ts-expect-error no such outcome
  new TimeoutError("late", { outcome: "applied" });
  // @ts-expect-error without an answer
  new NotFoundError("gone");
  // @ts-expect-error how long to wait, if known
  new RateLimitError("too many", answered);
  // @ts-expect-error how long to wait, if known
  new ServiceUnavailableError("later", answered);
  // @ts-expect-error the status is required
  new ResponseValidationError("garbage", {});
  // @ts-expect-error each with its path
  new ValidationError("input", { issues: ["must be a string"] });
});
