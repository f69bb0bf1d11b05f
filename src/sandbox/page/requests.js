import { announce, div, h, p, span } from "./dom.js";
import { badge, body, facts, milliseconds, momentOf, section, statusBadge, time } from "./format.js";

/** @typedef {import("../workbench/requests.ts").RequestRow} RequestRow */
/** @typedef {import("../workbench/requests.ts").RequestDetail} RequestDetail */

/** @param {Readonly<Record<string, string | readonly string[]>>} headers */
const headersOf = (headers) =>
  facts(
    Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === "string" ? value : value.join(", "),
    ]),
  );

/** @param {string} text */
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** The request as a shell command; the key stays a variable. @param {RequestDetail} request */
const curl = ({ method, target, body: sent }) =>
  [
    `curl -X ${method} ${quoted(`${location.origin}${target}`)}`,
    '-H "Authorization: Bearer $TOUCHPOINT_API_KEY"',
    ...(sent === undefined
      ? []
      : [
          "-H 'Content-Type: application/json'",
          `-d ${quoted(typeof sent === "string" ? sent : JSON.stringify(sent))}`,
        ]),
  ].join(" \\\n  ");

/** @param {RequestDetail} request */
const copyButton = (request) =>
  h(
    "button",
    {
      type: "button",
      onclick: async () => {
        await navigator.clipboard.writeText(curl(request));
        announce("Copied. The command reads the API key from $TOUCHPOINT_API_KEY.");
      },
    },
    "Copy as curl",
  );

/** @param {RequestDetail} request */
const effect = ({ status, applied, fault, limit, isLost }) => {
  if (limit !== undefined) return `Refused by the limit ${limit}, not applied`;
  if (fault === undefined && isLost) return "Applied, but the caller disconnected before the response";
  if (fault === undefined) return applied ? "Applied" : "Refused, not applied";
  const result = status === undefined ? "the caller got no response" : `the caller got status ${status}`;
  return `Planned fault ${fault}: ${applied ? "applied" : "not applied"}, ${result}`;
};

/** @param {RequestRow} row */
const took = ({ tookMs, status }) => {
  if (status === undefined) return undefined;
  return span("muted", tookMs === undefined ? "no response yet" : milliseconds(tookMs));
};

/** @param {RequestDetail} request */
const response = ({ answer, status }) => {
  if (answer === undefined) return [p("muted", "The sandbox has dropped this response.")];
  if (answer.body === "") return [p("muted", status === undefined ? "No response." : "No body.")];
  const isCut = answer.length > answer.body.length;
  const note = `The first ${answer.body.length} of ${answer.length} characters.`;
  return [body(answer.body), isCut ? p("muted", note) : undefined];
};

/** @param {NonNullable<RequestDetail["items"]>} items */
const table = (items) =>
  h(
    "table",
    {},
    h("tr", {}, ...["", "Event", "Person", "Status", "Outcome"].map((name) => h("th", {}, name))),
    ...items.map(({ name, person, status, result }, index) =>
      h("tr", {}, ...[index, name, person, statusBadge(status), result].map((cell) => h("td", {}, cell))),
    ),
  );

export const requests = {
  label: "Requests",
  /** @param {RequestRow} row */
  keyOf: (row) => String(row.number),
  /** @param {RequestRow} row */
  row: (row) => [
    span(
      "line",
      h("b", { class: `method ${row.method.toLowerCase()}` }, row.method),
      span("grow mono", row.target),
      statusBadge(row.status),
    ),
    span(
      "line muted",
      span("grow", row.operation ?? "unknown operation"),
      row.limit === undefined ? undefined : badge(`limit: ${row.limit}`, "refused"),
      row.fault === undefined ? undefined : badge(row.fault, "fault"),
      row.isLost ? badge("the response was lost", "failed") : undefined,
      took(row),
      time(row.at),
    ),
  ],
  /** @param {RequestDetail} request */
  detail: (request) => [
    div("title", h("h2", { class: "mono" }, `${request.method} ${request.target}`), copyButton(request)),
    p(
      "badges",
      statusBadge(request.status),
      h("span", {}, effect(request)),
      span("muted", momentOf(request.at)),
      took(request),
    ),
    facts([
      ["Operation", request.operation ?? "none: the service has no such path"],
      ["Workspace", request.workspace],
    ]),
    Object.keys(request.query).length === 0
      ? undefined
      : section("Query", facts(Object.entries(request.query).map(([name, value]) => [name, value]))),
    request.items && section(`${request.items.length} items`, table(request.items)),
    request.body === undefined ? undefined : section("Request body", body(request.body)),
    section("Response", ...response(request)),
    section("Request headers", headersOf(request.headers)),
    request.answer && section("Response headers", headersOf(request.answer.headers)),
  ],
  empty: () => [
    h("h2", {}, "No requests yet"),
    p("", "Point a program at this sandbox. Its requests then appear here:"),
    h("pre", { class: "code", tabindex: 0 }, `export TOUCHPOINT_BASE_URL=${location.origin}`),
  ],
};
