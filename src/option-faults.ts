const headerName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// Visible ASCII, blanks and tabs; no line break can start a header of its own.
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Headers that the library sets itself, or that would change where or how the body ends. */
const ownHeaders = [
  "authorization",
  "host",
  "content-length",
  "content-type",
  "transfer-encoding",
  "connection",
  "expect",
  "upgrade",
];

/** What is wrong with extra headers; values are never repeated. */
export const headerFaults = (headers: Readonly<Record<string, unknown>>): string[] => {
  if (typeof headers !== "object" || headers === null) return ["headers must be an object of strings"];
  return Object.entries(headers).flatMap(([name, value]) => {
    if (!headerName.test(name)) return [`headers: ${JSON.stringify(name)} is not a header name`];
    if (ownHeaders.includes(name.toLowerCase())) return [`headers: ${name} is set by the library`];
    if (typeof value !== "string" || !headerValue.test(value)) {
      return [`headers: the value of ${name} must be a string without line breaks or control characters`];
    }
    return [];
  });
};

/** Whether a host name stays on this machine. */
export const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" ||
  hostname.endsWith(".localhost") ||
  hostname === "[::1]" ||
  /^127(\.\d{1,3}){3}$/.test(hostname);

/** Options that do not exist: a misspelt one must not be ignored. */
export const unknownKeys = (options: object, known: readonly string[]): string[] =>
  Object.keys(options)
    .filter((key) => !known.includes(key))
    .map((key) => `there is no option "${key}"`);

/** A page's script; a worker or a server-side rendering of a page is none. */
export const isBrowser = (): boolean => "window" in globalThis && "document" in globalThis;
