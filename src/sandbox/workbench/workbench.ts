import type { IncomingMessage, ServerResponse } from "node:http";
import { ConfigurationError } from "../../errors.ts";
import { messageOf } from "../../runtime/values.ts";
import { type Incoming, parseBody, Refusal } from "../answer.ts";
import type { Fields } from "../json.ts";
import { defaultWorkspace } from "../keys.ts";
import { pageFile } from "../page-files.ts";
import { bodyFields } from "../rules/call.ts";
import type { Workspace } from "../store/workspace.ts";
import { type Controlled, controls } from "./controls.ts";
import { emailDetail, listEmails } from "./emails.ts";
import { messageSource } from "./message.ts";
import { createBudgetHistory, overviewOf } from "./overview.ts";
import { contactDetail, eventDetail, listContacts, listEvents } from "./people.ts";
import { listRequests, requestDetail } from "./requests.ts";

/**
 * Whether a request comes from a page of another origin. Browsers report the origin in `Sec-Fetch-Site` or `Origin`,
 * which pages cannot set. Programs send neither header, and are allowed: a program here can reach the sandbox anyway.
 */
const isFromElsewhere = ({ headers }: Pick<Incoming, "headers">): boolean => {
  const { origin, host, "sec-fetch-site": site } = headers;
  if (site !== undefined && site !== "same-origin" && site !== "none") return true;
  return origin !== undefined && origin !== `http://${host}`;
};

/** @throws Refusal 400 for a body that is not a JSON object. */
const bodyOf = (incoming: Incoming): Fields => {
  if (incoming.body === "") return {};
  const { value, refusal } = parseBody(incoming);
  if (refusal !== undefined) throw refusal;
  return bodyFields({ body: value });
};

const updatePeriodMs = 250;

const headers = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
};
const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
// A displayed email must not run scripts, and must load nothing from the network.
const emailPolicy =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; frame-ancestors 'self'";

/** A response that is not JSON. */
interface File {
  readonly type: string;
  readonly content: string | Buffer;
  readonly policy?: string;
}

interface ViewRequest {
  readonly workspace: Workspace;
  readonly query: URLSearchParams;
  readonly id: string;
}

type View = File | object | undefined;
type ViewHandler = (request: ViewRequest) => Promise<View> | View;

const send = (response: ServerResponse, { type, content, policy }: File, status = 200): void => {
  const more = policy === undefined ? {} : { "content-security-policy": policy };
  response.writeHead(status, { ...headers, ...more, "content-type": type }).end(content);
};

/** A placeholder for the event stream. `serve` keeps that response open and writes the updates. */
const streaming: File = { type: "text/event-stream", content: "" };

const isFile = (value: object): value is File => "content" in value;
const jsonOf = (body: unknown): File => ({ type: "application/json", content: JSON.stringify(body) });

const orMissing = <T>(value: T | undefined): T => {
  if (value === undefined) throw new Refusal(404, "There is no such page or record.");
  return value;
};

const withoutPage: File = {
  type: "text/plain; charset=utf-8",
  content:
    "The files of this page are missing because a bundler left them out. To see the page, keep touchpoint-sdk out of the bundle.\n",
};

const page = async (): Promise<File> => ({
  ...((await pageFile("index.html")) ?? withoutPage),
  policy: pagePolicy,
});

// After a timeout, the list shows the emails that exist.
const ignoreTimeout = (error: unknown): void => {
  if (error instanceof ConfigurationError) throw error;
};

/** Creates the workbench, which samples the limits from now on. */
export const createWorkbench = (on: Controlled) => {
  const { world, clock } = on;
  const history = createBudgetHistory(world, clock);
  const overview = () => overviewOf(on, history());

  const views: Readonly<Record<string, ViewHandler>> = {
    "GET /state": overview,
    "GET /requests": ({ query }) => listRequests(world().journal, query),
    "GET /requests/:id": ({ id }) => requestDetail(world().journal, Number(id)),
    "GET /emails": async ({ workspace, query }) => {
      const timeoutMs = Number(query.get("waitMs") ?? 0);
      const to = query.get("to");
      const options = { timeoutMs, workspace: workspace.name };
      if (timeoutMs !== 0 && to !== null)
        await on.sandbox.waitFor("email", { to }, options).catch(ignoreTimeout);
      return listEmails(workspace, world().journal.lostIds, query);
    },
    "GET /emails/:id": ({ workspace, id }) => emailDetail(workspace, world().journal.lostIds, id),
    "GET /contacts": ({ workspace, query }) => listContacts(workspace, query),
    "GET /contacts/:id": ({ workspace, id }) => contactDetail(workspace, world().journal, id),
    "GET /events": ({ workspace, query }) => listEvents(workspace, query),
    "GET /events/:id": ({ workspace, id }) => eventDetail(workspace, world().journal, id),
    "GET /budgets": () => ({
      series: history(),
      refusals: world().journal.requests.flatMap(({ at, status }) => (status === 429 ? [at] : [])),
    }),
    "GET /emails/:id/html": ({ workspace, id }) => {
      const content = emailDetail(workspace, world().journal.lostIds, id)?.html;
      if (content !== undefined) return { type: "text/html; charset=utf-8", content, policy: emailPolicy };
      return undefined;
    },
    "GET /emails/:id/source": ({ workspace, id }) => {
      const email = workspace.emails.find((one) => one.id === id);
      return email && { type: "text/plain; charset=utf-8", content: messageSource(email) };
    },
    "GET /page/:id": ({ id }) => pageFile(id),
    "GET /stream": () => streaming,
  };

  const stream = (request: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(200, { ...headers, "content-type": streaming.type });
    let last = "";
    const sendUpdate = (): void => {
      const now = overview();
      const { at: _at, ...rest } = now;
      const update = JSON.stringify(rest);
      if (update !== last) response.write(`event: state\ndata: ${JSON.stringify(now)}\n\n`);
      last = update;
    };
    sendUpdate();
    const timer = setInterval(sendUpdate, updatePeriodMs);
    request.socket.once("close", () => clearInterval(timer));
  };
  const sampling = setInterval(history, updatePeriodMs).unref();

  const answer = async (incoming: Incoming): Promise<File> => {
    if (isFromElsewhere(incoming))
      throw new Refusal(403, "The workbench refuses requests from pages of other origins.");
    const { pathname, searchParams: query } = new URL(incoming.target, "http://sandbox");
    const [, , kind = "", encodedId, ...rest] = pathname.split("/");
    const route = [`${incoming.method} /${kind}`, ...(encodedId === undefined ? [] : [":id"]), ...rest].join(
      "/",
    );
    const workspace = world().workspaceNamed(query.get("workspace") ?? defaultWorkspace);
    const id = decodeURIComponent(encodedId ?? "");
    const control = controls[route];
    if (control !== undefined) return jsonOf(control(bodyOf(incoming), on, id) ?? {});
    const view = orMissing(await views[route]?.({ workspace, query, id }));
    return isFile(view) ? view : jsonOf(view);
  };

  /** Answers requests to the workbench. Returns false for requests to the service. */
  const serve = async (incoming: Incoming, request: IncomingMessage, response: ServerResponse) => {
    const { method, target } = incoming;
    const isPage = method === "GET" && /^\/(\?|$)/.test(target);
    if (!isPage && !target.startsWith("/_sandbox/")) return false;
    try {
      const file = isPage ? await page() : await answer(incoming);
      if (file === streaming) stream(request, response);
      else send(response, file);
    } catch (error) {
      const isWrong = error instanceof ConfigurationError || error instanceof URIError;
      const status = error instanceof Refusal ? error.status : isWrong ? 400 : 500;
      send(response, jsonOf({ error: messageOf(error) }), status);
    }
    return true;
  };
  return { serve, close: () => clearInterval(sampling) };
};

/** The page at `/`, with its data and controls under `/_sandbox/`. */
export type Workbench = ReturnType<typeof createWorkbench>;
