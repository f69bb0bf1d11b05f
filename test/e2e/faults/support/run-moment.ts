import { getEventListeners } from "node:events";
import { backoffMs } from "../../../../src/http/retry-policy.ts";
import { Client, isTouchpointError } from "../../../../src/index.ts";
import { createSandbox } from "../../../../src/sandbox/index.ts";
import type { Finding } from "./expected.ts";
import type { Moment } from "./moments.ts";
import { allClosed } from "./sockets.ts";
import type { Subject } from "./subjects.ts";
import { WatchedClock } from "./watched-clock.ts";

/** Who ends the call. */
export type Ending = "an abort" | "its deadline";

/** One operation ended at one moment. */
export interface MomentCell {
  readonly subject: Subject;
  readonly moment: Moment;
  readonly ending: Ending;
}

/** What must come of it, by the contract. */
export const expectedAt = ({ subject, moment, ending }: MomentCell): Finding & { readonly left: number } => {
  const effect = subject.replay === "read" ? 0 : (subject.size ?? 1);
  const isUnknown = moment.isUnclear && subject.replay !== "read";
  return {
    ...(ending === "an abort"
      ? { told: "the signal's reason", outcome: undefined }
      : { told: moment.refusedWith ?? "TimeoutError", outcome: isUnknown ? "unknown" : "not-applied" }),
    requests: moment.requests,
    effects: moment.applies ? effect : 0,
    left: 0,
  };
};

/** Long enough for every moment to come before it, which the clock sees to. */
const totalTimeoutMs = 300;

/** Its back-off does not end, so that the call can be found in it. */
const random = 0.99;

let keys = 0;

/** Runs one call to the moment and ends it there; `left` counts timers and listeners after close(). */
export const runMoment = async ({ subject, moment, ending }: MomentCell) => {
  keys += 1;
  const apiKey = `moment-${keys}`;
  const sandbox = createSandbox({ apiKeys: ["sandbox-key", apiKey], limits: false, seed: 1 });
  const id = (await subject.prepare?.(sandbox)) ?? "";
  const before = sandbox.state.requests.length;
  const controller = new AbortController();
  const reason = new Error("the caller has had enough");
  let timesReached = 0;
  const place = await moment.arrange(sandbox, () => {
    timesReached += 1;
    if (ending === "an abort") controller.abort(reason);
  });
  const clock = new WatchedClock({
    heldMs: totalTimeoutMs,
    stalled: () => timesReached,
    endlessMs: backoffMs(1, random),
  });
  const { signal } = controller;
  const client = new Client(
    {
      baseUrl: place.url,
      apiKey,
      allowInsecureHttp: true,
      limits: false,
      ...moment.options,
      ...place.options,
    },
    { clock, random: () => random },
  );
  const leave = place.occupy?.(client);
  place.strike?.();
  const options = ending === "an abort" ? { signal } : { signal, totalTimeoutMs };
  const error: unknown = await subject.call(client, options, id).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  // Repeated beyond close(), it would reach whoever is given the port next.
  leave?.();
  await client.close();
  if (place.options?.dispatcher === undefined) await allClosed(place.port);
  const finding = {
    told: error === reason ? "the signal's reason" : error instanceof Error ? error.name : "a response",
    outcome: isTouchpointError(error) ? error.outcome : undefined,
    requests: sandbox.state.requests.length - before,
    effects: subject.effects(sandbox.state, id),
    left: clock.pending + getEventListeners(signal, "abort").length,
  };
  await place.close();
  return finding;
};
