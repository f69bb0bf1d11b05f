import type { HttpRequest, HttpResponse } from "../../src/http/message.ts";
import { AttemptFailure, type Send, type Sending } from "../../src/http/types.ts";

/** What an attempt does: it responds, fails, or calls a function. */
export type Step = HttpResponse | AttemptFailure | Send;

/** A transport that follows a script and records its requests. */
export interface Scripted {
  readonly send: Send;
  readonly sendings: readonly Sending[];
  readonly requests: readonly HttpRequest[];
}

/** Does one step per attempt. An attempt beyond the script fails the test. */
export const scripted = (...steps: readonly Step[]): Scripted => {
  const requests: HttpRequest[] = [];
  const sendings: Sending[] = [];
  const send: Send = async (sending, request) => {
    const step = steps[requests.length];
    requests.push(request);
    sendings.push(sending);
    if (step === undefined) throw new Error(`attempt ${requests.length} is not in the script`);
    if (typeof step === "function") return step(sending, request);
    if (step instanceof AttemptFailure) throw step;
    return step;
  };
  return { send, sendings, requests };
};

/** A step that stays in flight until the call is aborted, then fails like a transport. */
export const stall: Send = ({ call: { signal } }) =>
  new Promise((_resolve, reject) => {
    signal?.addEventListener("abort", () =>
      reject(new AttemptFailure("aborted", "aborted", { wasSent: true, cause: signal.reason })),
    );
  });
