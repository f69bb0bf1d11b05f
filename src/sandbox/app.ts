import { type Answer, type Incoming, parseBody, Refusal, type Reply, replyTo } from "./answer.ts";
import { fieldsOf, isArray } from "./json.ts";
import { type ApiKey, authenticate, forbiddenReason } from "./keys.ts";
import { chargesOn, spend } from "./limits.ts";
import type { SandboxOptions } from "./options.ts";
import { findRoute, type Match } from "./router.ts";
import type { Call } from "./rules/call.ts";
import type { SandboxClock } from "./sandbox-clock.ts";
import { accountNamed } from "./store/mail-account.ts";
import type { Workspace } from "./store/workspace.ts";
import type { World } from "./world.ts";

/** The simulated service, a function from a request to an answer. Both `fetch` and `listen` call it. */
export type App = (incoming: Incoming) => Promise<Answer>;

const arrive = (incoming: Incoming) => {
  const url = new URL(incoming.target, "http://sandbox");
  const body = parseBody(incoming);
  return { incoming, url, body, match: findRoute(incoming.method, url.pathname, body.value) };
};

type Arrived = ReturnType<typeof arrive>;

/** The number of events in a request; 0 for a batch that its rule will refuse. */
const eventsIn = ({ operation }: Match, body: unknown): number => {
  if (operation.id !== "events.recordBatch") return 1;
  const { events } = fieldsOf(body);
  return isArray(events) && events.length <= 100 ? events.length : 0;
};

/**
 * Decides whether a request reaches its rule: limits, route, browser, scope and role. Every request with a valid key
 * counts, even if it is refused later. Only a 429 doesn't count.
 *
 * @throws Refusal
 */
const admit = ({ match, body, incoming }: Arrived, key: ApiKey, workspace: Workspace): Match => {
  const forbidden = match && forbiddenReason(key, match.operation, incoming.headers);
  const charges = chargesOn(key.requests);
  if (match !== undefined && forbidden === undefined) {
    const { budgets, id } = match.operation;
    if (budgets.includes("events")) charges.push(...chargesOn(workspace.meters, eventsIn(match, body.value)));
    if (budgets.includes("emails")) charges.push(...chargesOn(key.emails));
    const account = accountNamed(key.settings.mailAccount, workspace.mailAccounts);
    // A scheduled email spends the account's limits when it is sent.
    if (id === "emails.send" && account !== undefined) charges.push(...chargesOn(account.meters));
  }
  spend(charges, workspace.services.clock.now());
  if (match === undefined) throw new Refusal(404, `No such path: ${incoming.method} ${incoming.target}`);
  if (forbidden !== undefined) throw new Refusal(403, forbidden);
  if (body.refusal !== undefined) throw body.refusal;
  return match;
};

const noAnswer: Answer = { status: 0, headers: {}, body: "" };

const idIn = (body: string): string | undefined => /"id":"([^"]+)"/.exec(body)?.[1];

/** Whether the answer shows the caller that the request was applied. */
const confirms = ({ status, delivery, body }: Answer, recordId: string | undefined): boolean =>
  status >= 200 &&
  status < 300 &&
  delivery === undefined &&
  (recordId === undefined || body.includes(recordId));

/** Creates the service. Each request calls `world` for the current world, because a reset replaces the world. */
export const createApp = (world: () => World, clock: SandboxClock, options: SandboxOptions): App => {
  const { latencyMs = 0 } = options;
  const [min, max] = typeof latencyMs === "number" ? [latencyMs, latencyMs] : latencyMs;

  const serve = (arrived: Arrived, failing: Call["failing"]) => {
    const { incoming, url, body } = arrived;
    const { keys, workspaceNamed } = world();
    let key: ApiKey | undefined;
    let reply: Reply;
    try {
      key = authenticate(incoming.headers.authorization, keys, clock.wallTime());
      const workspace = workspaceNamed(key.workspace);
      const { rule, id } = admit(arrived, key, workspace);
      reply = rule({ workspace, key, id, query: url.searchParams, body: body.value, failing });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      reply = error;
    }
    return { reply, workspace: key?.workspace };
  };

  return async (incoming) => {
    const startedAt = clock.now();
    const { random, plans, journal } = world();
    const lateMs = max === 0 ? 0 : min + random() * (max - min);
    const arrived = arrive(incoming);
    const { url, body, match } = arrived;
    const operation = match?.operation.id;
    const effect = plans.next(operation);
    const served = effect?.applied === false ? undefined : serve(arrived, effect?.failing);
    const own = served === undefined ? noAnswer : replyTo(served.reply);
    const answer = effect?.answer(own) ?? own;
    const refusal = served?.reply instanceof Refusal ? served.reply : undefined;
    const isSent = answer.status !== 0;
    const headers = isSent ? { date: new Date(clock.wallTime()).toUTCString(), ...answer.headers } : {};
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
      status: isSent ? answer.status : undefined,
      applied: served !== undefined && refusal === undefined,
      limit: effect === undefined ? refusal?.limit : undefined,
      fault: effect?.label,
    };
    const exchange = journal.add(record, { headers, body: answer.body });
    // The id of the created or changed record.
    const recordId = record.applied ? idIn(own.body) : undefined;
    if (record.applied && !confirms(answer, recordId)) journal.markLost(exchange, recordId);
    const waitMs = lateMs + (answer.delayMs ?? 0);
    if (waitMs > 0) await clock.sleep(waitMs);
    // A client that disconnected before the answer doesn't know whether its request was applied.
    if (record.applied && incoming.isGone?.() === true) journal.markLost(exchange, recordId);
    journal.markAnswered(exchange, clock.now() - startedAt);
    return { ...answer, headers };
  };
};
