import { AttemptFailure, type HttpRequest, type HttpResponse, type Send } from "./flat-request.ts";

/** What an attempt does: it responds, fails, or calls a function. */
export type Step = HttpResponse | AttemptFailure | ((request: HttpRequest) => Promise<HttpResponse>);

/** A transport that follows a script and records its requests. */
export interface Scripted {
  readonly send: Send;
  readonly requests: readonly HttpRequest[];
}

/** Does one step per attempt. An attempt beyond the script fails the test. */
export const scripted = (...steps: readonly Step[]): Scripted => {
  const requests: HttpRequest[] = [];
  const send: Send = async (request) => {
    const step = steps[requests.length];
    requests.push(request);
    if (step === undefined) throw new Error(`attempt ${requests.length} is not in the script`);
    if (typeof step === "function") return step(request);
    if (step instanceof AttemptFailure) throw step;
    return step;
  };
  return { send, requests };
};

/** A step that stays in flight until the request is aborted, then fails like a transport. */
export const stall: Step = (request) =>
  new Promise((_resolve, reject) => {
    request.signal?.addEventListener("abort", () =>
      reject(new AttemptFailure("aborted", "aborted", { wasSent: true, cause: request.signal?.reason })),
    );
  });
