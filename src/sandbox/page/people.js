import { div, h, p, span } from "./dom.js";
import { badge, facts, history, json, momentOf, section, time } from "./format.js";

/** @typedef {import("../workbench/people.ts").ContactRow} ContactRow */
/** @typedef {NonNullable<ReturnType<typeof import("../workbench/people.ts").contactDetail>>} ContactDetail */
/** @typedef {import("../workbench/people.ts").EventRow} EventRow */
/** @typedef {NonNullable<ReturnType<typeof import("../workbench/people.ts").eventDetail>>} EventDetail */

const refused = ["REPLIED", "BOUNCED", "UNSUBSCRIBED", "CONVERTED", "DEAD"];

/** Marks the stages to which the service refuses emails. @param {string} stage */
const stageBadge = (stage) => badge(stage, refused.includes(stage.toUpperCase()) ? "refused" : "plain");

/** @param {string} outcome */
const outcomeBadge = (outcome) => badge(outcome, outcome === "PROCESSED" ? "ok" : "refused");

export const contacts = {
  label: "Contacts",
  /** @param {ContactRow} row */
  keyOf: (row) => row.id,
  /** @param {ContactRow} row */
  row: (row) => [
    span("line", h("b", { class: "grow" }, row.name ?? row.email), stageBadge(row.stage)),
    span("line muted", span("grow", row.name === undefined ? "no name" : row.email), time(row.updatedAt)),
  ],
  /** @param {ContactDetail} detail */
  detail: ({ contact, lists, company, history: entries }) => [
    div("title", h("h2", {}, contact.name ?? contact.email), stageBadge(contact.stage)),
    facts([
      ["Email", contact.email],
      ["Title", contact.title],
      ["Phone", contact.phone],
      ["LinkedIn", contact.linkedIn],
      ["Company", company],
      ["Lists", lists.join(", ")],
      ["Notes", contact.notes ?? undefined],
      ["Source", contact.source],
      ["Verified", contact.verified ? "yes" : "no"],
      ["Confidence", contact.emailConfidence],
      ["External id", contact.externalId],
      ["Id", contact.id],
      ["Created", momentOf(contact.createdAt)],
      ["Updated", momentOf(contact.updatedAt)],
    ]),
    Object.keys(contact.customFields).length === 0
      ? undefined
      : section("Custom fields", json(contact.customFields)),
    history(entries),
  ],
  empty: () => [
    h("h2", {}, "No contacts yet"),
    p("", "Create contacts with client.contacts.create(), or add made-up contacts under Data."),
  ],
};

export const events = {
  label: "Events",
  /** @param {EventRow} row */
  keyOf: (row) => row.id,
  /** @param {EventRow} row */
  row: (row) => [
    span(
      "line",
      h("b", { class: "grow mono" }, row.name),
      row.repeats === 0 ? undefined : badge(`${row.repeats + 1} times`, "plain"),
      outcomeBadge(row.outcome),
    ),
    span("line muted", span("grow", row.person ?? "no contact"), time(row.at)),
  ],
  /** @param {EventDetail} detail */
  detail: ({ event, person, history: entries }) => [
    div("title", h("h2", { class: "mono" }, event.name), outcomeBadge(event.response.outcome)),
    facts([
      ["Person", person && h("a", { href: `#/contacts/${encodeURIComponent(person.id)}` }, person.email)],
      ["Happened", momentOf(event.occurredAt)],
      ["Recorded", momentOf(event.recordedAt)],
      ["Id", event.id],
      [
        "Repeated",
        event.repeats === 0
          ? "never"
          : `${event.repeats === 1 ? "once" : `${event.repeats} times`} with the same id; not recorded again`,
      ],
      ["Note", event.response.note ?? undefined],
    ]),
    Object.keys(event.properties).length === 0 ? undefined : section("Properties", json(event.properties)),
    section("Response", json(event.response)),
    history(entries),
  ],
  empty: () => [
    h("h2", {}, "No events yet"),
    p(
      "",
      "Events from client.events appear here, with the automation runs that they started and how often they were sent.",
    ),
  ],
};
