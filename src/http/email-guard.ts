import type { EmailGuards } from "../options/email-guards.ts";
import type { Log } from "../options/logger.ts";
import { comparablePath, isWithin } from "../service/comparable-path.ts";
import type { HttpRequest, HttpResponse } from "./message.ts";
import type { Send, Sending, Stage } from "./types.ts";

/** What the guard needs besides the guards themselves. */
export interface EmailGuardSettings {
  readonly guards: EmailGuards;
  readonly log: Pick<Log, "info">;
  /** The paths that send emails: the documented ones, and their replacements in `routes`. */
  readonly paths: readonly string[];
  /** Milliseconds since 1970. */
  readonly wallTime: () => number;
}

const answered = (status: number, json?: object): HttpResponse => ({
  status,
  headers: {},
  text: "",
  json,
  isJson: json !== undefined,
});

/** The response to a request that was not sent; its shape is that of a real one. */
const pretended = (
  { method, path }: HttpRequest,
  body: Record<string, unknown>,
  now: string,
): HttpResponse => {
  if (method === "DELETE") return answered(204);
  if (method !== "POST") return answered(200, { status: "SCHEDULED", sendAt: now, ...body });
  const id = `dry-run:${crypto.randomUUID()}`;
  const request = { method, path, body };
  if (body.sendAt !== undefined)
    return answered(201, { scheduled: true, id, status: "SCHEDULED", sendAt: body.sendAt, request });
  const { to, subject, cc = [] } = body;
  const rest = { from: "", sentAt: now, tracked: false, contactId: "", contactCreated: false };
  return answered(200, { id, to, cc, subject, ...rest, request });
};

/**
 * Keeps emails from being sent: to recipients who are not allowed, and all of them in a dry run, whichever method sends
 * them. Outermost, so that such an email is neither counted nor waited for nor reported as a request.
 */
export const emailGuard = ({ guards, log, paths, wallTime }: EmailGuardSettings): Stage => {
  const emailPaths = paths.map(comparablePath);
  const isOfEmails = ({ operation }: Sending, { method, path }: HttpRequest): boolean => {
    if (method === "GET") return false;
    if (operation.isEmail) return true;
    const actual = comparablePath(path);
    // Also without the prefix: a base URL that ends in it is taken without it, and a gateway may add it.
    return emailPaths.some(
      (emailPath) => isWithin(actual, emailPath) || isWithin(actual, emailPath.replace("/api/v1/", "/")),
    );
  };
  const sendEmail = async (sending: Sending, request: HttpRequest, send: Send): Promise<HttpResponse> => {
    const { method } = request;
    const { id: operation } = sending.operation;
    const { dryRun } = sending.plan;
    const body = request.body === undefined ? undefined : JSON.parse(request.body);
    if (method !== "DELETE") guards.check(operation, body, method === "POST");
    if (!guards.isAlwaysDry && !(dryRun ?? guards.isDry)) return send(sending, request);
    log.info("dry run, not sent", { operation });
    const response = pretended(request, Object(body), new Date(wallTime()).toISOString());
    sending.call.answered(response);
    return response;
  };
  return function guardEmails(sending, request, next) {
    return isOfEmails(sending, request) ? sendEmail(sending, request, next) : next(sending, request);
  };
};
