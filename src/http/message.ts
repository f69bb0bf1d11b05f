import type { RawHeaders } from "../runtime/headers.ts";
import type { UnsafeNumber } from "../runtime/unsafe-numbers.ts";
import type { Method } from "../service/define.ts";

/** An HTTP request on its way through the stages. Anything else a stage needs is in the sending. */
export interface HttpRequest {
  readonly method: Method;
  /** The path from the root of the origin, with its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** How long an attempt may take; the claim of a send-once key counts too. */
  readonly attemptTimeoutMs: number;
  /** Set by the auth stage; separate from the other headers, because readers of those must not see the key. */
  authorization: string | undefined;
  /** Set by the rate limit: whether this attempt must wait again, for a pause or because its permits lapsed. */
  admission: { readonly mustWaitAgain: boolean } | undefined;
}

/** A complete response: `json`, or, if the body is not JSON (`isJson` false), its `text`, which may be empty. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: RawHeaders;
  readonly text: string;
  readonly json: unknown;
  readonly isJson: boolean;
  /** How long an error response asks to wait; undefined if it gives no time. */
  readonly retryAfterMs?: number | undefined;
  /** A number in the body whose digits `json` has lost; undefined if there is none. */
  readonly unsafe?: UnsafeNumber | undefined;
  /** Set by the auth stage on a 401 when a newer key may be available. */
  readonly canRenewKey?: boolean;
}

/** All headers of a request, including the key. */
export const headersOf = ({ headers, authorization }: HttpRequest): Readonly<Record<string, string>> =>
  authorization === undefined ? headers : { ...headers, authorization };

/** Whether the service itself says that there is no body; a missing body may also have been cut off. */
export const isWholeWithoutBody = ({ status, headers, text }: HttpResponse): boolean =>
  text === "" &&
  (status === 204 ||
    status === 205 ||
    headers["content-length"] === "0" ||
    headers["transfer-encoding"] !== undefined);
