import type { RawHeaders } from "../runtime/headers.ts";
import type { UnsafeNumber } from "../runtime/unsafe-numbers.ts";
import type { Method } from "../service/define.ts";

/** An HTTP request that passes through the stages. The sending contains everything else that a stage needs. */
export interface HttpRequest {
  readonly method: Method;
  /** The path from the root of the origin, with its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** The maximum time of an attempt. It includes the claim of a send-once key. */
  readonly attemptTimeoutMs: number;
  /** Set by the auth stage. It is separate from the other headers, because their readers must not see the key. */
  authorization: string | undefined;
  /**
   * Set by the rate-limit stage. `mustWaitAgain`: whether this attempt must wait again, because a limit was paused or
   * its permits have lapsed.
   */
  admission: { readonly mustWaitAgain: boolean } | undefined;
}

/**
 * A complete response. `json` is its body. If the body is not JSON (`isJson` is false), `text` is its body, which may
 * be empty.
 */
export interface HttpResponse {
  readonly status: number;
  readonly headers: RawHeaders;
  readonly text: string;
  readonly json: unknown;
  readonly isJson: boolean;
  /** The wait that an error response requires, in milliseconds; undefined if it has none. */
  readonly retryAfterMs?: number | undefined;
  /** A number in the body that lost digits in `json`; undefined if there is none. */
  readonly unsafe?: UnsafeNumber | undefined;
  /** Set by the auth stage on a 401 when a newer key may be available. */
  readonly canRenewKey?: boolean;
}

/** All headers of a request, including the key. */
export const headersOf = ({ headers, authorization }: HttpRequest): Readonly<Record<string, string>> =>
  // The key comes first: in Node 20, properties after a spread are slow (findings/node-20-spread-before-properties.sh).
  authorization === undefined ? headers : { authorization, ...headers };
