import { AttemptFailure, type HttpRequest, type HttpResponse, type Send } from "../../src/http/types.ts";

/** What one attempt shall do: answer, fail, or anything of one's own. */
export type Step = HttpResponse | AttemptFailure | ((request: HttpRequest) => Promise<HttpResponse>);

/** The bottom of a pipeline that plays a script, and keeps what came down to it. */
export interface Scripted {
  readonly send: Send;
  readonly requests: readonly HttpRequest[];
}

/** Plays one step per attempt; an attempt beyond the script fails the test. */
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

/** A step that stays under way until the request is aborted, then fails as a transport does. */
export const stall: Step = (request) =>
  new Promise((_resolve, reject) => {
    request.signal?.addEventListener("abort", () =>
      reject(new AttemptFailure("aborted", "aborted", { wasSent: true, cause: request.signal?.reason })),
    );
  });
