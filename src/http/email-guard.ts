import type { EmailGuards } from "../options/email-guards.ts";
import type { Log } from "../options/logger.ts";
import type { HttpRequest, HttpResponse } from "./message.ts";
import type { Stage } from "./types.ts";

/** The guards, and what the stage needs to apply them. */
export interface EmailGuardSettings {
  readonly guards: EmailGuards;
  readonly log: Pick<Log, "info">;
  /** The current time, in milliseconds since 1970. */
  readonly wallTime: () => number;
}

const responseWith = (status: number, json?: object): HttpResponse => ({
  status,
  headers: {},
  text: "",
  json,
  isJson: json !== undefined,
});

/** Creates the response to a request that was not sent. It has the shape of a real response. */
const dryRunResponse = (
  { method, path }: HttpRequest,
  body: Record<string, unknown>,
  now: string,
): HttpResponse => {
  if (method === "DELETE") return responseWith(204);
  if (method !== "POST") return responseWith(200, { status: "SCHEDULED", sendAt: now, ...body });
  const id = `dry-run:${crypto.randomUUID()}`;
  const request = { method, path, body };
  if (body.sendAt !== undefined)
    return responseWith(201, { scheduled: true, id, status: "SCHEDULED", sendAt: body.sendAt, request });
  const { to, subject, cc = [] } = body;
  const rest = { from: "", sentAt: now, tracked: false, contactId: "", contactCreated: false };
  return responseWith(200, { id, to, cc, subject, ...rest, request });
};

/**
 * Prevents emails to recipients that are not allowed, and all emails in a dry run, whichever method of the client
 * sends them. The stage is outermost, because such an email must not spend limits, wait or count as a request.
 */
export const emailGuard = ({ guards, log, wallTime }: EmailGuardSettings): Stage =>
  async function guardEmails(sending, request, next) {
    const { method } = request;
    if (method === "GET") return next(sending, request);
    const { id: operation } = sending.operation;
    const { dryRun } = sending.plan;
    const body = request.body === undefined ? undefined : JSON.parse(request.body);
    if (method !== "DELETE") guards.check(operation, body, method === "POST");
    if (!guards.isAlwaysDry && !(dryRun ?? guards.isDry)) return next(sending, request);
    log.info("dry run, not sent", { operation });
    const response = dryRunResponse(request, Object(body), new Date(wallTime()).toISOString());
    sending.call.answered(response);
    return response;
  };
