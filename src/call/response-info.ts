import { type CallStats, type HttpResponse, type RawHeaders, toHeaders } from "../http/types.ts";
import type { ResponseInfo } from "./api-promise.ts";

/** A class, so that `headers` is made of the raw ones only where somebody looks at them. */
export class Received implements ResponseInfo {
  readonly status: number;
  readonly attempts: number;
  readonly waitedMs: number;
  readonly #headers: RawHeaders;

  constructor(response: HttpResponse, stats: CallStats) {
    this.status = response.status;
    this.attempts = stats.attempts;
    this.waitedMs = stats.waitedMs;
    this.#headers = response.headers;
  }

  get headers(): Headers {
    return toHeaders(this.#headers);
  }
}
