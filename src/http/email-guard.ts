import type { EmailGuards } from "../options/email-guards.ts";
import type { Log } from "../options/logger.ts";
import type { HttpRequest, HttpResponse, Send, Stage } from "./types.ts";

/** What the guard needs besides the guards themselves. */
export interface EmailGuardSettings {
  readonly guards: EmailGuards;
  readonly log: Pick<Log, "info">;
  /** The paths that send emails: the documented ones, and their replacements in `routes`. */
  readonly paths: readonly string[];
  /** Milliseconds since 1970. */
  readonly wallTime: () => number;
}

// Anywhere in the path, because a part of it may be in the base URL, or belong to a gateway. A service may take more for
// the same path: `emails;v=1`, `emails.json`.
const isWithin = (given: string, place: string): boolean =>
  given.split(place).some((rest, at) => at > 0 && !/^[a-z0-9_-]/.test(rest));

const escapes = /%[0-7][0-9a-f]/gi;

/** A path as a service may read it: upper case, escapes, extra slashes and dots must not bypass the guard. */
const plain = (path: string): string => {
  let [decoded = ""] = path.split("?");
  // Again, because a proxy before the service may decode too.
  while (decoded.search(escapes) >= 0)
    decoded = decoded.replace(escapes, (hex) => String.fromCharCode(Number.parseInt(hex.slice(1), 16)));
  const url = new URL("http://service");
  url.pathname = decoded.replace(/[\\/]+/g, "/");
  return url.pathname.toLowerCase().replace(/\/$/, "");
};

const answered = (status: number, json?: object): HttpResponse => ({
  status,
  headers: {},
  text: "",
  json,
  isJson: json !== undefined,
});

/** The response to a request that was not sent; its shape is that of a real one. */
const pretended = ({ method }: HttpRequest, body: Record<string, unknown>, now: string): HttpResponse => {
  if (method === "DELETE") return answered(204);
  if (method !== "POST") return answered(200, { status: "SCHEDULED", sendAt: now, ...body });
  const id = `dry-run:${crypto.randomUUID()}`;
  if (body.sendAt !== undefined)
    return answered(201, { scheduled: true, id, status: "SCHEDULED", sendAt: body.sendAt });
  const { to, subject, cc = [] } = body;
  const rest = { from: "", sentAt: now, tracked: false, contactId: "", contactCreated: false };
  return answered(200, { id, to, cc, subject, ...rest });
};

/**
 * Keeps emails from being sent: to recipients who are not allowed, and all of them in a dry run, whichever method sends
 * them. Outermost, so that such an email is neither counted nor waited for nor reported as a request.
 */
export const emailGuard = ({ guards, log, paths, wallTime }: EmailGuardSettings): Stage => {
  const places = paths.map(plain);
  const isOfEmails = ({ method, operation, path }: HttpRequest): boolean => {
    if (method === "GET") return false;
    if (operation.startsWith("emails.")) return true;
    const given = plain(path);
    return places.some((place) => isWithin(given, place));
  };
  return (send) => {
    const sendEmail: Send = async (request) => {
      const { operation, method, path } = request;
      const body = request.body === undefined ? undefined : JSON.parse(request.body);
      if (method !== "DELETE") guards.check(operation, body, method === "POST");
      if (!guards.isAlwaysDry && !(request.dryRun ?? guards.isDry)) return send(request);
      log.info("dry run, not sent", { operation });
      if (request.dryRun) return answered(200, { dryRun: true, request: { method, path, body } });
      return pretended(request, Object(body), new Date(wallTime()).toISOString());
    };
    return function guardEmails(request) {
      return isOfEmails(request) ? sendEmail(request) : send(request);
    };
  };
};
