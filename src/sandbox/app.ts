import { createAdmission } from "./admission.ts";
import { type Answer, type Incoming, Refusal, type Reply, replyTo } from "./answer.ts";
import { effectOf } from "./fault-effects.ts";
import type { FaultPlans } from "./fault-plan.ts";
import { type Fault, faultLabel } from "./faults.ts";
import type { Exchange, Journal } from "./journal.ts";
import { type ApiKey, authenticate } from "./keys.ts";
import type { Latency } from "./latency.ts";
import type { SandboxOptions } from "./options.ts";
import { type ParsedBody, parseBody, withoutKey } from "./request.ts";
import { findRoute, type Match } from "./router.ts";
import type { SandboxClock } from "./sandbox-clock.ts";
import type { Workspace } from "./store/workspace.ts";

/** The simulated service: takes a request, returns an answer. Both `fetch` and `listen` call it. */
export type App = (incoming: Incoming) => Promise<Answer>;

/** The parts of the service. */
export interface AppParts {
  readonly options: SandboxOptions;
  readonly clock: SandboxClock;
  readonly keys: ReadonlyMap<string, ApiKey>;
  readonly workspaceOf: (name: string) => Workspace;
  readonly plans: FaultPlans;
  readonly journal: Journal;
  readonly latency: Latency;
}

interface Handled {
  readonly reply: Reply | Refusal;
  readonly workspace?: string;
}

/** Creates the service from its parts. */
export const createApp = (parts: AppParts): App => {
  const { clock, keys, plans, journal, latency } = parts;
  const admit = createAdmission(parts.options, clock);

  const serve = (
    incoming: Incoming,
    url: URL,
    body: ParsedBody,
    match: Match | undefined,
    fault?: Fault,
  ): Handled => {
    let workspace: string | undefined;
    try {
      const key = authenticate(incoming.headers.authorization, keys, clock.wallTime());
      workspace = key.workspace;
      const admitted = admit({ key, match, body, incoming, fault, workspace: parts.workspaceOf(workspace) });
      return { reply: admitted.rule({ ...admitted.call, query: url.searchParams }), workspace };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return workspace === undefined ? { reply: error } : { reply: error, workspace };
    }
  };

  const handle = (incoming: Incoming): Handling => {
    const startedAt = clock.now();
    const url = new URL(incoming.target, "http://sandbox");
    const body = parseBody(incoming);
    const match = findRoute(incoming.method, url.pathname);
    const operation = operationId(match, body);
    const fault = plans.next(operation);
    const effect = fault && effectOf(fault);
    const handled = effect?.applied === false ? undefined : serve(incoming, url, body, match, fault);
    const own = handled === undefined ? unserved : replyTo(handled.reply);
    const answer = effect?.answer(own) ?? own;
    const refusal = handled?.reply instanceof Refusal ? handled.reply : undefined;
    const headers = { date: new Date(clock.wallTime()).toUTCString(), ...answer.headers };
    const record = {
      operation,
      method: incoming.method,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: withoutKey(incoming.headers),
      body: body.value,
      at: clock.wallTime(),
      workspace: handled?.workspace,
      status: answer.status === 0 ? undefined : answer.status,
      applied: handled !== undefined && refusal === undefined,
      limit: fault === undefined ? refusal?.limit : undefined,
      fault: fault && faultLabel(fault),
    };
    const exchange = journal.add(record, answer.status === 0 ? answer : { headers, body: answer.body });
    const made = record.applied ? idIn(own.body) : undefined;
    if (record.applied && !tells(answer, made)) journal.lost(exchange, made);
    return { answer: { ...answer, headers }, exchange, made, startedAt };
  };

  return async (incoming) => {
    const { answer, exchange, made, startedAt } = await latency(() => handle(incoming));
    if (answer.delayMs !== undefined) await clock.sleep(answer.delayMs);
    // A client that gave up while the answer was on its way does not know what it did.
    if (exchange.request.applied && incoming.isGone?.() === true) journal.lost(exchange, made);
    journal.answered(exchange, clock.now() - startedAt);
    return answer;
  };
};

interface Handling {
  readonly answer: Answer;
  readonly exchange: Exchange;
  /** The id of the record that it made or changed. */
  readonly made: string | undefined;
  readonly startedAt: number;
}

const unserved: Answer = { status: 0, headers: {}, body: "", delivery: { kind: "reset" } };

const idIn = (body: string): string | undefined => /"id":"([^"]+)"/.exec(body)?.[1];

/** Whether the caller of a request that was applied learns so from its answer. */
const tells = ({ status, delivery, packing, body }: Answer, made: string | undefined): boolean =>
  status >= 200 &&
  status < 300 &&
  !["reset", "stall", "part"].includes(delivery.kind) &&
  packing !== "gzip-corrupt" &&
  (made === undefined || body.includes(made));

// One path serves two operations; only the body tells them apart.
const operationId = (match: Match | undefined, body: ParsedBody): string | undefined => {
  if (match?.operation.id !== "emails.send") return match?.operation.id;
  return body.fields?.sendAt === undefined ? "emails.send" : "emails.schedule";
};
