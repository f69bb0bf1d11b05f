import { isDate } from "../../runtime/values.ts";
import type { Answer } from "../answer.ts";
import type { Fault } from "./fault.ts";

const whole = { kind: "whole" } as const;
const json = { "content-type": "application/json" };

const htmlPage: Answer = {
  status: 502,
  headers: { "content-type": "text/html" },
  body: "<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>",
  delivery: whole,
};

// Names of headers have no case: in lower case, one of the caller's takes the place of one that is there.
const inLowerCase = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

const retryAfterText = (retryAfter: number | string | Date): string =>
  isDate(retryAfter) ? retryAfter.toUTCString() : String(retryAfter);

const redirectTo = (location: string, status = 307): Answer => ({
  status,
  headers: { location },
  body: "",
  delivery: whole,
});

/** These statuses have no body, and a Response refuses one. */
export const isBodiless = (status: unknown): boolean => status === 204 || status === 205 || status === 304;

const bodyOf = (status: number): unknown =>
  isBodiless(status) ? "" : { error: `Planned fault: status ${status}.` };

/** The answer that takes the place of the service's own, if this fault has one. */
export const answerInstead = (fault: Fault): Answer | undefined => {
  switch (fault) {
    case "reset-before":
    case "reset-after-apply":
      return { status: 0, headers: {}, body: "", delivery: { kind: "reset" } };
    case "stall":
    case "stall-after-apply":
      return { status: 0, headers: {}, body: "", delivery: { kind: "stall" } };
    case "html-502":
    case "html-502-after-apply":
      return htmlPage;
    case "empty-500":
      return { status: 500, headers: {}, body: "", delivery: whole };
    case "redirect":
      return redirectTo("https://elsewhere.example/api/v1/");
  }
  if (typeof fault === "string" || "items" in fault) return undefined;
  if ("redirect" in fault) return redirectTo(fault.redirect, fault.status);
  const { status, retryAfter, headers = {}, body = bodyOf(status) } = fault;
  return {
    status,
    headers: {
      ...json,
      ...(retryAfter === undefined ? {} : { "retry-after": retryAfterText(retryAfter) }),
      ...inLowerCase(headers),
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
    delivery: whole,
  };
};

const unapplied = new Set<Fault>(["reset-before", "stall", "html-502", "empty-500", "redirect"]);

/** Whether the request never reaches the rules. */
export const isUnapplied = (fault: Fault): boolean => {
  if (typeof fault === "string") return unapplied.has(fault);
  if ("items" in fault) return false;
  return "redirect" in fault || fault.applied !== true;
};
