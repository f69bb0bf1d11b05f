/** An error of any origin. */
export interface ErrorLike extends Error {
  readonly code?: unknown;
  readonly syscall?: unknown;
}

/**
 * Recognizes an error by its shape, because errors of another realm (a test runner, a vm) fail `instanceof Error`.
 */
export const isErrorLike = (value: unknown): value is ErrorLike =>
  typeof value === "object" && value !== null && "message" in value && typeof value.message === "string";

const asIs = (text: string): string => text;

/**
 * Copies only the name, message, stack and code of an error, because a `fetch` may attach the request to its errors.
 */
export const sanitizedError = (original: ErrorLike, change = asIs): Error & { readonly code?: string } => {
  const plain = new Error();
  const copyText = (name: "name" | "message" | "stack"): void => {
    const value: unknown = original[name];
    if (typeof value !== "string") return;
    Object.defineProperty(plain, name, { value: change(value), writable: true, configurable: true });
  };
  copyText("name");
  copyText("message");
  copyText("stack");
  const { code } = original;
  return typeof code === "string" ? Object.assign(plain, { code: change(code) }) : plain;
};
