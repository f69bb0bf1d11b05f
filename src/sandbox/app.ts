import { admit } from "./admission.ts";
import { type Answer, type Incoming, parseBody, Refusal, type Reply, replyTo } from "./answer.ts";
import { effectOf } from "./fault-effects.ts";
import type { FaultPlans } from "./fault-plan.ts";
import type { Journal } from "./journal.ts";
import { fieldsOf } from "./json.ts";
import { type ApiKey, authenticate } from "./keys.ts";
import type { SandboxOptions } from "./options.ts";
import type { Random } from "./random.ts";
import { findRoute, type Match } from "./router.ts";
import type { Call } from "./rules/call.ts";
import type { SandboxClock } from "./sandbox-clock.ts";
import type { Workspace } from "./store/workspace.ts";

/** The simulated service: takes a request, returns an answer. Both `fetch` and `listen` call it. */
export type App = (incoming: Incoming) => Promise<Answer>;

/** The parts of the service. */
export interface AppParts {
  readonly options: SandboxOptions;
  readonly clock: SandboxClock;
  readonly random: Random;
  readonly keys: ReadonlyMap<string, ApiKey>;
  readonly workspaceNamed: (name: string) => Workspace;
  readonly plans: FaultPlans;
  readonly journal: Journal;
}

const arrive = (incoming: Incoming) => {
  const url = new URL(incoming.target, "http://sandbox");
  return { incoming, url, body: parseBody(incoming), match: findRoute(incoming.method, url.pathname) };
};

const unserved: Answer = { status: 0, headers: {}, body: "" };

const idIn = (body: string): string | undefined => /"id":"([^"]+)"/.exec(body)?.[1];

const silent = ["reset", "stall", "truncate", "stall-body", "gzip-corrupt"];

/** Whether the caller of a request that was applied learns so from its answer. */
const tells = ({ status, delivery, body }: Answer, made: string | undefined): boolean =>
  status >= 200 &&
  status < 300 &&
  !silent.includes(delivery ?? "") &&
  (made === undefined || body.includes(made));

// One path serves two operations; only the body tells them apart.
const operationId = (match: Match | undefined, body: unknown): string | undefined => {
  if (match?.operation.id !== "emails.send") return match?.operation.id;
  return fieldsOf(body).sendAt === undefined ? "emails.send" : "emails.schedule";
};

/** Creates the service from its parts. */
export const createApp = (parts: AppParts): App => {
  const { options, clock, random, keys, workspaceNamed, plans, journal } = parts;
  const { latencyMs = 0, scheduledResponse = "nested" } = options;
  const [min, max] = typeof latencyMs === "number" ? [latencyMs, latencyMs] : latencyMs;

  const serve = ({ incoming, url, body, match }: ReturnType<typeof arrive>, failing: Call["failing"]) => {
    let name: string | undefined;
    let reply: Reply | Refusal;
    try {
      const key = authenticate(incoming.headers.authorization, keys, clock.wallTime());
      name = key.workspace;
      const workspace = workspaceNamed(name);
      const { rule, id } = admit({ key, match, body, incoming, workspace }, clock.now());
      const call = { workspace, key, id, query: url.searchParams, body: body.value };
      reply = rule({ ...call, failing, scheduledResponse });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      reply = error;
    }
    return { reply, workspace: name };
  };

  const handle = (incoming: Incoming) => {
    const arrived = arrive(incoming);
    const { url, body, match } = arrived;
    const operation = operationId(match, body.value);
    const fault = plans.next(operation);
    const effect = fault && effectOf(fault);
    const served = effect?.applied === false ? undefined : serve(arrived, effect?.failing);
    const own = served === undefined ? unserved : replyTo(served.reply);
    const answer = effect?.answer(own) ?? own;
    const refusal = served?.reply instanceof Refusal ? served.reply : undefined;
    const headers = { date: new Date(clock.wallTime()).toUTCString(), ...answer.headers };
    const { authorization: _key, ...sent } = incoming.headers;
    const record = {
      operation,
      method: incoming.method,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: sent,
      body: body.value,
      at: clock.wallTime(),
      workspace: served?.workspace,
      status: answer.status === 0 ? undefined : answer.status,
      applied: served !== undefined && refusal === undefined,
      limit: effect === undefined ? refusal?.limit : undefined,
      fault: effect?.label,
    };
    const exchange = journal.add(record, answer.status === 0 ? answer : { headers, body: answer.body });
    // The id of the record that it made or changed.
    const made = record.applied ? idIn(own.body) : undefined;
    if (record.applied && !tells(answer, made)) journal.lost(exchange, made);
    return { answer: { ...answer, headers }, exchange, made };
  };

  return async (incoming) => {
    const startedAt = clock.now();
    const lateMs = max === 0 ? 0 : min + random() * (max - min);
    const { answer, exchange, made } = handle(incoming);
    const waitMs = lateMs + (answer.delayMs ?? 0);
    if (waitMs > 0) await clock.sleep(waitMs);
    // A client that gave up while the answer was on its way does not know what it did.
    if (exchange.request.applied && incoming.isGone?.() === true) journal.lost(exchange, made);
    journal.answered(exchange, clock.now() - startedAt);
    return answer;
  };
};
