import { platform } from "../runtime/platform.ts";
import { mustBeAtLeast, mustBeOneOf, mustBeSignal, mustBeWhole, type Rules } from "../runtime/rules.ts";
import { isIterable, isLoopback, isPlainObject } from "../runtime/values.ts";
import { comparablePath, isWithin } from "../service/comparable-path.ts";
import type { Method, OperationFacts } from "../service/define.ts";
import { allOperations } from "../service/operations.ts";

const headerName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// Visible ASCII, blanks, tabs and Latin-1. A line break could start another header.
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Headers that the library sets, that contain a secret, or that would change the method, the target or the end of the
 * body.
 */
const ownHeaders = [
  "authorization",
  "proxy-authorization",
  "x-http-method",
  "x-http-method-override",
  "x-method-override",
  "host",
  "content-length",
  "content-type",
  "transfer-encoding",
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "expect",
  "upgrade",
];

/** The faults of extra headers. No message repeats a value, which may be a secret. */
const headerFaults = (headers: unknown): string[] => {
  if (!isPlainObject(headers)) {
    const fix = isIterable(headers) ? ": pass Object.fromEntries(headers)" : "";
    return [`headers must be a plain object of strings${fix}`];
  }
  return Object.entries(headers).flatMap(([name, value]) => {
    if (!headerName.test(name)) return [`headers: ${JSON.stringify(name)} is not a header name`];
    if (ownHeaders.includes(name.toLowerCase())) return [`headers: ${name} cannot be an extra header`];
    if (value !== undefined && (typeof value !== "string" || !headerValue.test(value))) {
      return [`headers: the value of ${name} must be a string without line breaks or control characters`];
    }
    return [];
  });
};

/** Reports that the client runs in a web page. Web workers and server-side rendering are allowed. */
export const browserFaults = (): readonly string[] =>
  "window" in globalThis && "document" in globalThis
    ? [
        "this looks like a browser, where every visitor could read the API key. In a test under jsdom, use the test " +
          "runner's environment node; dangerouslyAllowBrowser: true allows it",
      ]
    : [];

/** Reports that the process has no classes of fetch, which hold the headers of responses. */
export const platformFaults = (): readonly string[] =>
  // Reading the global would load Node's fetch.
  "Headers" in globalThis || typeof platform().Headers === "function"
    ? []
    : ["this process has no global Headers: start Node without --no-experimental-fetch"];

/** The rules of options that both a call and a client have. */
export const sharedRules = {
  timeoutMs: mustBeAtLeast(1),
  totalTimeoutMs: mustBeAtLeast(1),
  maxWaitMs: mustBeAtLeast(0),
  maxRetries: mustBeWhole(0),
  priority: mustBeOneOf("interactive", "background"),
  headers: headerFaults,
} satisfies Rules;

/** The rules of the options of one call. */
export const callRules = { ...sharedRules, signal: mustBeSignal };

// Every path begins with /api/v1, so remove it from a base URL that was copied with it.
const basePathOf = (path: string): string => path.replace(/\/+$/, "").replace(/(\/+api\/+v1)?$/i, "");

/** Splits the base URL, and reports what is wrong or unsafe. */
export const baseUrlOf = (
  value: unknown,
  allowInsecureHttp: boolean,
  faults: string[],
): { origin: string; basePath: string } => {
  const url = typeof value === "string" && URL.canParse(value) ? new URL(value) : undefined;
  if (value === undefined || value === "") {
    faults.push("baseUrl is missing: set TOUCHPOINT_BASE_URL, or in code the option baseUrl");
  } else if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:")) {
    faults.push("baseUrl must be an absolute https:// URL, or http:// to this machine");
  } else {
    // The URL may contain a password: no message repeats it.
    if (url.username !== "" || url.password !== "")
      faults.push("baseUrl must not contain a user name or password");
    if (url.search !== "" || url.hash !== "") faults.push("baseUrl must not contain a query or a fragment");
    if (url.protocol === "http:" && !allowInsecureHttp && !isLoopback(url.hostname)) {
      faults.push(
        "baseUrl must start with https://, unless the service runs on this machine. With http://, anyone on the network can read the API key. To accept that, set allowInsecureHttp: true",
      );
    }
  }
  return { origin: url?.origin ?? "", basePath: basePathOf(url?.pathname ?? "") };
};

/**
 * Whether a header can contain the key. Any other key would fail deep in the transport, in an error with the key in its
 * message.
 */
export const isKey = (key: unknown): key is string => typeof key === "string" && /^[\x21-\x7e]+$/.test(key);

/** The faults of a key. The messages reveal neither the key nor its length. */
export const keyFaults = (key: unknown): string[] => {
  if (typeof key === "function") return [];
  if (key === undefined || key === "")
    return ["apiKey is missing: set TOUCHPOINT_API_KEY, or in code the option apiKey"];
  return isKey(key)
    ? []
    : ["apiKey must be a string of visible ASCII characters without blanks, or a function that returns one"];
};

const withMethod = /^(?:(GET|POST|PUT|PATCH|DELETE) )?(.*)$/s;

/** The method and path that `routes` gives an operation. */
export interface Route {
  /** The method; undefined to keep the operation's own. */
  readonly method: Method | undefined;
  readonly path: string;
}

/** Splits `DELETE /api/v1/…`, or a path alone. */
export const routeOf = (route: string): Route => {
  const [, method, path = route] = withMethod.exec(route) ?? [];
  // The expression matches only these methods.
  return { method: method as Method | undefined, path };
};

/** What is wrong with the path that `routes` gives an operation; undefined if it fits. */
const pathFault = (path: unknown, own: OperationFacts): string | undefined => {
  const isPath =
    typeof path === "string" &&
    /^\/(?!\/)[\x21-\x7e]*$/.test(path) &&
    !/[?#\\]|(^|\/)\.{1,2}(\/|$)/.test(path);
  if (!isPath)
    return " must be a path of visible ASCII characters that starts with a single / and has no query and no dot segments; a method may precede it";
  // The guards check the requests of email operations only. In /lists/:id/emails, the emails are those of a list.
  const [beforeId = ""] = comparablePath(path).split("/:id/");
  if (!own.isEmail && isWithin(beforeId, "/emails"))
    return ": only the operations of emails may use the path of emails";
  const placeholders = path.split("/").filter((segment) => /^(:\w+|\{.*\})$/.test(segment));
  const needsId = own.path.split("/").includes(":id");
  if (needsId && placeholders.filter((name) => name === ":id").length !== 1)
    return ` must have /:id for the id, like ${own.path} has`;
  const unknown = placeholders.find((name) => !needsId || name !== ":id");
  return (
    unknown &&
    `: the operation has no value for the placeholder ${unknown}. Write the value itself into the path`
  );
};

/** The faults of corrected paths. */
export const routeFaults = (routes: unknown): string[] => {
  if (!isPlainObject(routes)) return ["routes must be a plain object of paths by operation id"];
  return Object.entries(routes).flatMap(([operation, route]) => {
    const own = allOperations.find(({ id }) => id === operation);
    if (own === undefined) return [`routes: there is no operation "${operation}"`];
    const fault = pathFault(typeof route === "string" ? routeOf(route).path : route, own);
    return fault === undefined ? [] : [`routes["${operation}"]${fault}`];
  });
};
