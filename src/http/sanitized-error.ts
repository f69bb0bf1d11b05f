/** An error of whatever origin. */
export interface ErrorLike extends Error {
  readonly code?: unknown;
  readonly syscall?: unknown;
}

/** Told by its shape: the errors of another realm (a test runner's, a vm's) are no instances of this one's Error. */
export const isErrorLike = (value: unknown): value is ErrorLike =>
  typeof value === "object" && value !== null && "message" in value && typeof value.message === "string";

const asIs = (text: string): string => text;

/** The name, sentence, stack and code of an error, and nothing else of it: a fetch may hang whole requests on it. */
export const sanitizedError = (told: ErrorLike, change = asIs): Error & { readonly code?: string } => {
  const plain = new Error();
  const keep = (name: "name" | "message" | "stack"): void => {
    const value: unknown = told[name];
    if (typeof value !== "string") return;
    Object.defineProperty(plain, name, { value: change(value), writable: true, configurable: true });
  };
  keep("name");
  keep("message");
  keep("stack");
  const { code } = told;
  return typeof code === "string" ? Object.assign(plain, { code: change(code) }) : plain;
};
