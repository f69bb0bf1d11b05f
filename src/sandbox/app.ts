import { createAdmission } from "./admission.ts";
import { type Answer, type Incoming, Refusal, type Reply } from "./answer.ts";
import { answerInstead, distort, isUnapplied } from "./fault-effects.ts";
import type { FaultPlans } from "./fault-plan.ts";
import { type Fault, faultLabel } from "./faults.ts";
import type { Journal } from "./journal.ts";
import { type ApiKey, authenticate } from "./keys.ts";
import type { Latency } from "./latency.ts";
import type { SandboxOptions } from "./options.ts";
import { replyTo } from "./reply.ts";
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

  const handle = (incoming: Incoming): Answer => {
    const url = new URL(incoming.target, "http://sandbox");
    const body = parseBody(incoming);
    const match = findRoute(incoming.method, url.pathname);
    const operation = operationId(match, body);
    const fault = plans.next(operation);
    const handled =
      fault !== undefined && isUnapplied(fault) ? undefined : serve(incoming, url, body, match, fault);
    const own = handled && replyTo(handled.reply);
    const replacement = fault && answerInstead(fault);
    const answer = replacement ?? (own && fault ? distort(own, fault) : own);
    if (answer === undefined) throw new Error("a fault without its own answer must reach the rules");
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
      applied: handled !== undefined && !(handled.reply instanceof Refusal),
      fault: fault && faultLabel(fault),
    };
    journal.add(record, answer.status === 0 ? answer : { headers, body: answer.body });
    return { ...answer, headers };
  };

  return (incoming) => latency(() => handle(incoming));
};

// One path serves two operations; only the body tells them apart.
const operationId = (match: Match | undefined, body: ParsedBody): string | undefined => {
  if (match?.operation.id !== "emails.send") return match?.operation.id;
  return body.fields?.sendAt === undefined ? "emails.send" : "emails.schedule";
};
