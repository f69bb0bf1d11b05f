import type { Contact } from "../../src/service/contacts.ts";
import type { EventInput } from "../../src/service/events.ts";
import { AttemptFailure, type FailureKind, type HttpRequest, type HttpResponse } from "./flat-request.ts";

/** A request as `call.ts` would make it, with any part replaced. */
export const aRequest = (over: Partial<HttpRequest> = {}): HttpRequest => ({
  operation: "contacts.list",
  method: "GET",
  route: "/api/v1/contacts",
  path: "/api/v1/contacts",
  headers: {},
  body: undefined,
  replay: "safe",
  notFoundMeansDone: false,
  mayBeEmpty: false,
  budgets: ["requests"],
  weight: 1,
  priority: "interactive",
  signal: undefined,
  attemptTimeoutMs: 30_000,
  maxRetries: 4,
  attempt: 1,
  mayHaveTakenEffect: false,
  stats: { attempts: 0, waitedMs: 0, mayHaveTakenEffect: false },
  ...over,
});

/** A complete response. A string body is sent as it is, not as JSON. */
export const anAnswer = (
  status: number,
  body: unknown = { error: "no" },
  headers: HttpResponse["headers"] = {},
): HttpResponse =>
  typeof body === "string"
    ? { status, headers, text: body, json: undefined, isJson: false }
    : { status, headers, text: "", json: body, isJson: true };

/** An attempt without a complete response. */
export const aFailure = (kind: FailureKind, wasSent: boolean, response?: HttpResponse): AttemptFailure =>
  new AttemptFailure(kind, `a ${kind}`, { wasSent, ...(response && { response }) });

/** An attempt with an error status. */
export const aStatus = (status: number, body?: unknown, headers?: HttpResponse["headers"]): AttemptFailure =>
  aFailure("status", true, anAnswer(status, body, headers));

export const aContact = (id: string, over: Partial<Contact> = {}): Contact => ({
  id,
  email: `${id}@example.com`,
  stage: "NEW",
  source: "MANUAL",
  verified: false,
  customFields: {},
  listIds: [],
  createdAt: "2026-01-31T09:00:00.000Z",
  updatedAt: "2026-01-31T09:00:00.000Z",
  ...over,
});

export const anEvent = (over: Partial<EventInput> = {}): EventInput => ({
  name: "order.placed",
  contact: { email: "ada@example.com" },
  ...over,
});
