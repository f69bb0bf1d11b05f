import type { RawHeaders } from "../runtime/headers.ts";
import { inferred } from "../service/define.ts";
import { allOperations } from "../service/operations.ts";
import { refusedPassword } from "./retry-policy.ts";
import type { AttemptFailure, Sending } from "./types.ts";

const ownAuthority =
  "if your network or company signs certificates itself, set NODE_EXTRA_CA_CERTS to its certificate file before Node starts";

const wrongProxyName = "check the host name of the proxy: its certificate is for another host";

type Failure = Pick<AttemptFailure, "kind" | "message" | "cause" | "response">;

/** Advice for a failed connection, keyed by error code. */
const byCode: ReadonlyMap<unknown, string> = new Map(
  Object.entries({
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: ownAuthority,
    UNABLE_TO_GET_ISSUER_CERT: ownAuthority,
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY: ownAuthority,
    SELF_SIGNED_CERT_IN_CHAIN: ownAuthority,
    DEPTH_ZERO_SELF_SIGNED_CERT: ownAuthority,
    CERT_HAS_EXPIRED: "the server's certificate has expired, or this machine's clock is wrong",
    CERT_NOT_YET_VALID: "this machine's clock may be wrong: the server's certificate is not valid yet",
    ERR_TLS_CERT_ALTNAME_INVALID: "check the host name of baseUrl: the certificate is for another host",
    ERR_SSL_WRONG_VERSION_NUMBER: "check baseUrl: this port seems to speak http, not https",
    ENOTFOUND: "check the host name of baseUrl; behind a proxy, set the option proxy",
    EAI_AGAIN: "check this machine's DNS; behind a proxy, set the option proxy",
    UND_ERR_PRX_TLS: wrongProxyName,
  }),
);

const loopback = /no connection to (localhost|127(\.\d+){3}|\[::1\]):/;

const closedByProxy =
  "check the URL of the proxy, and whether the proxy can reach the host and port of baseUrl: a server that is no proxy, a proxy that requires https in its URL, and some proxies without a route close the connection";

/** Advice for a failed connection to a proxy, keyed by error code. */
const byProxyCode: ReadonlyMap<unknown, string> = new Map(
  Object.entries({
    ECONNREFUSED: "check that the proxy is running",
    ENOTFOUND: "check the host name of the proxy",
    EAI_AGAIN: "check the host name of the proxy, and this machine's DNS",
    ERR_SSL_WRONG_VERSION_NUMBER: "check the URL of the proxy: this port seems to speak http, not https",
    ERR_TLS_CERT_ALTNAME_INVALID: wrongProxyName,
    ECONNRESET: closedByProxy,
    PROXY_SPEAKS_NO_HTTP:
      "check the URL of the proxy: this port does not speak http. It may be a port of another server, or of a proxy that requires https in its URL",
  }),
);

/** Advice for a failed connection to a proxy, or for a refused tunnel; undefined for any other failure. */
const proxyHint = (code: unknown): string | undefined => {
  if (refusedPassword.includes(code))
    return "set the user name and password, percent-encoded, in the URL of the proxy; the client supports only Basic authentication";
  const refusal = String(code);
  if (refusal.startsWith("PROXY_ANSWERED_4"))
    return "the proxy does not allow this connection: ask its administrator to allow the host and port of baseUrl";
  return refusal.startsWith("PROXY_ANSWERED_5")
    ? "the proxy cannot reach the service: check the host and port of baseUrl, and the proxy's own network"
    : byProxyCode.get(code);
};

const connectionHint = ({ cause, message }: Failure): string | undefined => {
  const { code, message: reason }: { code?: unknown; message?: unknown } = Object(cause);
  const hint = String(reason).startsWith("the proxy ") ? proxyHint(code) : undefined;
  if (hint !== undefined || code !== "ECONNREFUSED") return hint ?? byCode.get(code);
  return loopback.test(message)
    ? "is the sandbox running? Start it with: npx touchpoint sandbox"
    : "nothing listens there: check the host and port of baseUrl";
};

/** Advice for a 403. Source: service document, Authentication, 4 and 6, and Errors, 403. */
const permissionHint = (operation: string): string => {
  const scopes = allOperations.find(({ id }) => id === operation)?.scope ?? [];
  const needs =
    scopes.length === 0
      ? "the key may lack a scope (the service's document does not name the scope of this request)"
      : `the key may lack ${scopes.length > 1 ? "the scopes" : "the scope"} ${scopes.join(" and ")}`;
  return `${needs}, its creator's role may not allow this, or the request has headers of a browser, such as Origin`;
};

const gatewayRefusal =
  "the response is not in the service's form, so a gateway or firewall probably refused the request: check its rules and its log";

/** Advice for an error status. */
export const statusHint = (status: number | undefined, operation: string): string | undefined => {
  switch (status) {
    case 401:
      return "check that the key belongs to the service at baseUrl, is not revoked or expired, and that no gateway removes the header Authorization";
    case 403:
      return permissionHint(operation);
    case 404:
    case 405:
      if (Object.hasOwn(inferred, operation))
        return `the service document does not specify the ${inferred[operation]} of ${operation}, so the client infers it; if it is wrong, correct the path or method with the option routes`;
      return status === 404
        ? undefined
        : "a gateway may refuse the method: allow GET, POST, PATCH and DELETE, and DELETE with a body";
    case 407:
      return "a proxy on the way requires a user name and password: set them in the option proxy";
    case 413:
      return "the body is larger than a gateway or the service allows: increase the limit, or send less at once";
    case 409:
      if (operation === "contacts.create") return "to update an existing contact, use contacts.upsert";
      return operation === "lists.create"
        ? "the service cannot find a list by its name: store the id that lists.create returns"
        : undefined;
    default:
      return undefined;
  }
};

/** Operations whose input has a time that the service compares with its own clock. */
export const operationsWithTimes: ReadonlySet<string> = new Set([
  "events.record",
  "events.recordBatch",
  "emails.schedule",
  "emails.scheduled.update",
]);

// A smaller difference may come from the Date header, which has whole seconds, and from the time that a response takes.
const minSkewMs = 2_000;

/** A hint about this machine's clock, if it differs from the `Date` of a response by two seconds or more. */
export const clockHint = ({ date }: RawHeaders, wallTime: number): string | undefined => {
  // If a response has several Date headers, some are from proxies, and nothing shows which one is the service's.
  const aheadMs = typeof date === "string" ? wallTime - Date.parse(date) : Number.NaN;
  if (!(Math.abs(aheadMs) >= minSkewMs)) return undefined;
  const seconds = Math.round(Math.abs(aheadMs) / 1_000);
  const [where, when] = aheadMs > 0 ? ["ahead of", "future"] : ["behind", "past"];
  return `this machine's clock is ${seconds} s ${where} the service's clock, so times taken from it are in the ${when} for the service: correct this machine's clock`;
};

/** Advice about when to retry after a 429. A 429 pauses the narrowest limit of its operation. */
export const pauseHint = (limit: string | undefined, retryAfterMs: number | undefined): string =>
  `the limit ${limit} is paused: try again ${retryAfterMs === undefined ? "later" : `in ${Math.ceil(retryAfterMs / 1_000)} s`}`;

/** Advice for an email with a `once` key and an unknown outcome; undefined for other requests. */
export const onceHint = ({ plan: { once }, call }: Sending): string | undefined => {
  if (once === undefined || call.progress.outcome === "not-applied") return undefined;
  const key = JSON.stringify(once.key);
  return `find out whether the email was sent, then call ledger.settle(${key}, "sent") or ledger.settle(${key}, "not-sent"). Until then, calls with this key and ledger send nothing`;
};

/** Advice for a failure, in one sentence; undefined if the message is enough. */
export const hintOf = (failure: Failure, operation: string): string | undefined => {
  switch (failure.kind) {
    case "status":
      return failure.response?.status === 403 && !failure.response.isJson
        ? gatewayRefusal
        : statusHint(failure.response?.status, operation);
    case "connection":
      return connectionHint(failure);
    case "redirect":
      return "use the address that the service redirects to as baseUrl";
    case "broken":
      return /^\s*</.test(failure.response?.text ?? "")
        ? "the response is a web page: check that baseUrl is the address of the API"
        : undefined;
    case "too-large":
      return "increase the option maxResponseBytes, or request less at once";
    default:
      return undefined;
  }
};
