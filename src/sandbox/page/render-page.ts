import type { Journal, RequestRecord } from "../journal.ts";
import type { LimitName } from "../limits/limits.ts";
import type { Meter } from "../limits/window.ts";
import type { SandboxState } from "../state.ts";
import type { EmailRecord } from "../store/records.ts";
import { type Html, html, table } from "./html.ts";
import { style } from "./style.ts";

/** One owner of limits: a key, a workspace or a mail account. */
export interface MeterOwner {
  readonly name: string;
  readonly meters: ReadonlyMap<LimitName, Meter>;
}

/** What the page shows. */
export interface PageView {
  /** By name; the first one is the default one. */
  readonly workspaces: ReadonlyMap<string, SandboxState>;
  readonly journal: Pick<Journal, "requests" | "counts">;
  readonly owners: readonly MeterOwner[];
  /** Milliseconds of the sandbox clock, for the limits. */
  readonly now: number;
  readonly wallTime: number;
}

const newest = <T>(records: readonly T[], count: number): T[] => records.slice(-count).reverse();

const seconds = (ms: number): string => (ms >= 86_400_000 ? "day" : `${ms / 1_000} s`);

const limitRows = ({ owners, now }: PageView): unknown[][] =>
  owners.flatMap(({ name, meters }) =>
    [...meters].map(([limit, meter]) => {
      const { max, perMs } = meter.window;
      const used = Math.round(meter.used(now));
      return [
        name,
        limit,
        html`<meter min="0" max="${max}" value="${used}"></meter>`,
        `${used} of ${max} per ${seconds(perMs)}`,
      ];
    }),
  );

const statusOf = ({ status, fault }: RequestRecord): Html => {
  const kind = status === undefined || status >= 500 ? "failed" : status >= 400 ? "refused" : "ok";
  return html`<span class="${kind}">${status ?? "no answer"}</span>${fault === undefined ? "" : ` (${fault})`}`;
};

const requestRow = (request: RequestRecord): unknown[] => {
  const query = new URLSearchParams(request.query).toString();
  return [
    new Date(request.at).toISOString().slice(11, 23),
    `${request.method} ${request.path}${query === "" ? "" : `?${query}`}`,
    request.operation ?? "",
    statusOf(request),
  ];
};

// The frame may neither run scripts nor reach the page around it.
const emailCard = (email: EmailRecord): Html => html`<article>
<p><strong>${email.subject}</strong><br>${email.from} to ${email.to}, ${email.sentAt}${email.scheduledId === undefined ? "" : ", scheduled"}</p>
${email.html === undefined ? html`<pre>${email.text}</pre>` : html`<iframe sandbox srcdoc="${email.html}"></iframe>`}
</article>`;

/** What is in a workspace; `of` tells which one, where there are several. */
const workspaceSections = (state: SandboxState, of: string): Html => {
  const events = newest(state.events, 25);
  const ids = new Set(events.map(({ contactId }) => contactId));
  const people = new Map(state.contacts.filter(({ id }) => ids.has(id)).map(({ id, email }) => [id, email]));
  return html`${table(
    `Contacts${of}`,
    ["email", "name", "stage", "lists", "created"],
    newest(state.contacts, 25).map((contact) => [
      contact.email,
      contact.name,
      contact.stage,
      contact.listIds.map((id) => state.lists.get(id)?.name ?? id).join(", "),
      contact.createdAt,
    ]),
    state.contacts.length,
  )}
${table(
  `Events${of}`,
  ["recorded", "name", "person", "outcome", "runs started", "repeats", "properties"],
  events.map((event) => [
    event.recordedAt,
    event.name,
    people.get(event.contactId ?? ""),
    event.answer.outcome,
    event.answer.runsStarted,
    event.repeats,
    JSON.stringify(event.properties),
  ]),
  state.events.length,
)}
${table(
  `Scheduled emails${of}`,
  ["send at", "to", "subject", "status", "reason"],
  newest([...state.scheduled.values()], 25).map((one) => [
    one.sendAt,
    one.draft.to,
    one.draft.subject,
    one.status,
    one.error,
  ]),
  state.scheduled.size,
)}
<section><h2>Emails${of} <small>${state.emails.length}</small></h2>${newest(state.emails, 20).map(emailCard)}</section>`;
};

/** The page at `/`: what came in, newest first, and how much of each limit is used. */
export const renderPage = (view: PageView): string => {
  const { requests, counts } = view.journal;
  const statuses = Object.entries(counts.byStatus).map(([status, count]) => `${status}: ${count}`);
  const isOne = view.workspaces.size === 1;
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="3">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Touchpoint sandbox</title><style>${{ html: style }}</style></head><body>
<h1>Touchpoint sandbox <small>${new Date(view.wallTime).toISOString()}</small></h1>
<p>${counts.requests} requests${statuses.length > 0 ? ` (${statuses.join(", ")})` : ""}</p>
${table("Limits", ["of", "limit", "", "used"], limitRows(view))}
${table("Requests", ["at", "request", "operation", "status"], newest(requests, 50).map(requestRow), counts.requests)}
${[...view.workspaces].map(([name, state]) => workspaceSections(state, isOne ? "" : ` of ${name}`))}
</body></html>`;
  return page.html;
};
