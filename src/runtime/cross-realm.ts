import { types } from "node:util";

// Under a test runner, or in a vm, a program has a realm of its own, and what Node's own modules hand over is of
// another: there `instanceof` says no to a Date, a Buffer and an Error.

/** A Date of any realm. */
export const isDate = (value: unknown): value is Date => types.isDate(value);

/** Bytes of any realm; a Buffer is some. */
export const isBytes = (value: unknown): value is Uint8Array => types.isUint8Array(value);

/** A query of any realm. */
export const isSearchParams = (value: unknown): value is URLSearchParams =>
  Object.prototype.toString.call(value) === "[object URLSearchParams]";

/** An abort signal of any realm, or of a library. */
export const isAbortSignal = (value: unknown): value is AbortSignal =>
  typeof value === "object" &&
  value !== null &&
  "aborted" in value &&
  "addEventListener" in value &&
  typeof value.addEventListener === "function";

/** An error of the system, of any realm: there is no such file. */
export const isMissingFile = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "code" in error && error.code === "ENOENT";
