import type { IncomingMessage, ServerResponse } from "node:http";
import { ConfigurationError } from "../../errors.ts";
import { messageOf } from "../../runtime/values.ts";
import { type Incoming, Refusal } from "../answer.ts";
import { defaultWorkspace } from "../keys.ts";
import { pageFile } from "../page-files.ts";
import type { Workspace } from "../store/workspace.ts";
import { createBudgetHistory, since } from "./budgets.ts";
import { type Controlled, controls } from "./controls.ts";
import { emailDetail, emailHtml, listEmails } from "./emails.ts";
import { messageSource } from "./message.ts";
import { overviewOf } from "./overview.ts";
import { contactDetail, eventDetail, listContacts, listEvents } from "./people.ts";
import { listRequests, requestDetail } from "./requests.ts";

/**
 * Whether a request comes from a page of another origin. Browsers say so in `Sec-Fetch-Site` or `Origin`, which pages
 * cannot set. Programs send neither and are allowed: they can reach this machine without a browser.
 */
const isFromElsewhere = ({ headers }: Pick<Incoming, "headers">): boolean => {
  const { origin, host, "sec-fetch-site": site } = headers;
  if (site !== undefined && site !== "same-origin" && site !== "none") return true;
  return origin !== undefined && origin !== `http://${host}`;
};

/** The page at `/`, with its data and controls under `/_sandbox/`. */
export interface Workbench {
  /** Answers requests to the workbench. Returns false for requests to the service. */
  serve(incoming: Incoming, request: IncomingMessage, response: ServerResponse): Promise<boolean>;
  /** Stops sampling. */
  close(): void;
}

const everyMs = 250;

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

interface Content {
  readonly type: string;
  readonly content: string | Buffer | undefined;
  readonly policy?: string;
}

interface Asked {
  readonly incoming: Incoming;
  readonly workspace: Workspace;
  readonly query: URLSearchParams;
  readonly id: string;
}

const send = (response: ServerResponse, { type, content, policy }: Content, status = 200): void => {
  const more = policy === undefined ? {} : { "content-security-policy": policy };
  response.writeHead(status, { ...headers, ...more, "content-type": type }).end(content);
};

const sendJson = (response: ServerResponse, body: object, status = 200): void =>
  send(response, { type: "application/json", content: JSON.stringify(body) }, status);

// The list shows what is there, also where the wait was in vain.
const unlessLate = (error: unknown): void => {
  if (error instanceof ConfigurationError) throw error;
};

/** Creates the workbench, which samples the limits from now on. */
export const createWorkbench = (on: Controlled): Workbench => {
  const { world, clock } = on;
  const history = createBudgetHistory(world, clock);
  const overview = () => overviewOf(world(), clock, on.version(), history());

  const views: Readonly<Record<string, (asked: Asked) => Promise<object> | object | undefined>> = {
    "GET /state": overview,
    "GET /requests": ({ query }) => listRequests(world().journal, query),
    "GET /requests/:id": ({ id }) => requestDetail(world().journal, Number(id)),
    "GET /emails": async ({ workspace, query }) => {
      const timeoutMs = Number(query.get("waitMs") ?? 0);
      const to = query.get("to");
      const options = { timeoutMs, workspace: workspace.name };
      if (timeoutMs !== 0 && to !== null)
        await on.sandbox.waitFor("email", { to }, options).catch(unlessLate);
      return listEmails(workspace, world().journal.lostIds, query);
    },
    "GET /emails/:id": ({ workspace, id }) => emailDetail(workspace, world().journal.lostIds, id),
    "GET /contacts": ({ workspace, query }) => listContacts(workspace, query),
    "GET /contacts/:id": ({ workspace, id }) => contactDetail(workspace, world().journal, id),
    "GET /events": ({ workspace, query }) => listEvents(workspace, query),
    "GET /events/:id": ({ workspace, id }) => eventDetail(workspace, world().journal, id),
    "GET /budgets": ({ query }) => ({
      series: since(history(), Number(query.get("since"))),
      refusals: world().journal.requests.flatMap(({ at, status }) => (status === 429 ? [at] : [])),
    }),
  };
  const contents: Readonly<
    Record<string, (asked: Asked) => Promise<Content | undefined> | Content | undefined>
  > = {
    "GET /emails/:id/html": ({ workspace, id }) => ({
      type: "text/html; charset=utf-8",
      content: emailHtml(workspace, id),
      policy: emailPolicy,
    }),
    "GET /emails/:id/source": ({ workspace, id }) => {
      const email = workspace.emails.find((one) => one.id === id);
      return { type: "text/plain; charset=utf-8", content: email && messageSource(email) };
    },
    "GET /page/:id": ({ id }) => pageFile(id),
  };

  const stream = (request: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(200, { ...headers, "content-type": "text/event-stream" });
    let last = "";
    const tell = (): void => {
      const now = overview();
      const { at: _at, ...rest } = now;
      const told = JSON.stringify(rest);
      if (told !== last) response.write(`event: state\ndata: ${JSON.stringify(now)}\n\n`);
      last = told;
    };
    tell();
    const timer = setInterval(tell, everyMs);
    request.socket.once("close", () => clearInterval(timer));
  };
  const sampling = setInterval(history, everyMs).unref();

  const answer = async (asked: Asked, route: string, response: ServerResponse): Promise<void> => {
    const content = await contents[route]?.(asked);
    if (content?.content !== undefined) return send(response, content);
    const body = (await views[route]?.(asked)) ?? controls[route]?.(asked.incoming, on, asked.id);
    if (body === undefined) throw new Refusal(404, "There is nothing here.");
    sendJson(response, body);
  };

  const answerOrRefuse = async (incoming: Incoming, request: IncomingMessage, response: ServerResponse) => {
    try {
      if (isFromElsewhere(incoming))
        throw new Refusal(403, "The workbench refuses requests from pages of other origins.");
      const url = new URL(incoming.target, "http://sandbox");
      const [, , kind = "", id, ...rest] = url.pathname.split("/");
      const route = [`${incoming.method} /${kind}`, ...(id === undefined ? [] : [":id"]), ...rest].join("/");
      if (route === "GET /stream") return stream(request, response);
      const workspace = world().workspaceNamed(url.searchParams.get("workspace") ?? defaultWorkspace);
      const asked = { incoming, workspace, query: url.searchParams, id: decodeURIComponent(id ?? "") };
      await answer(asked, route, response);
    } catch (error) {
      const status =
        error instanceof Refusal ? error.status : error instanceof ConfigurationError ? 400 : 500;
      sendJson(response, { error: messageOf(error) }, status);
    }
  };

  return {
    async serve(incoming, request, response) {
      if (incoming.method === "GET" && /^\/(\?|$)/.test(incoming.target)) {
        const page = await pageFile("index.html");
        if (page !== undefined) send(response, { ...page, policy: pagePolicy });
        return true;
      }
      if (!incoming.target.startsWith("/_sandbox/")) return false;
      await answerOrRefuse(incoming, request, response);
      return true;
    },
    close: () => clearInterval(sampling),
  };
};
