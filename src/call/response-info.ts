import { type CallLog, type HttpResponse, type RawHeaders, toHeaders } from "../http/types.ts";
import type { ResponseInfo } from "./api-promise.ts";

/** A class, so that `headers` is made of the raw ones only where somebody looks at them. */
export class Received implements ResponseInfo {
  readonly status: number;
  readonly attempts: number;
  readonly waitedMs: number;
  readonly #headers: RawHeaders;

  constructor(response: HttpResponse, log: CallLog) {
    this.status = response.status;
    this.attempts = log.attempts;
    this.waitedMs = log.waitedMs;
    this.#headers = response.headers;
  }

  get headers(): Headers {
    return toHeaders(this.#headers);
  }
}
