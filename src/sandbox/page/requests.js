import { h, tell } from "./dom.js";
import { badge, body, facts, momentOf, section, statusBadge, time } from "./format.js";

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
        tell("Copied; the key is $TOUCHPOINT_API_KEY.");
      },
    },
    "Copy as curl",
  );

/** @param {RequestDetail} request */
const effect = ({ status, applied, fault }) => {
  if (fault === undefined) return applied ? "Applied" : "Refused, nothing applied";
  const told = status === undefined ? "the caller got no response" : `the caller was told ${status}`;
  return `Met the fault ${fault}: ${applied ? "applied" : "not applied"}, ${told}`;
};

export const requests = {
  label: "Requests",
  /** @param {RequestRow} row */
  keyOf: (row) => String(row.number),
  /** @param {RequestRow} row */
  row: (row) => [
    h(
      "span",
      { class: "line" },
      h("b", { class: `method ${row.method.toLowerCase()}` }, row.method),
      h("span", { class: "grow mono" }, row.target),
      statusBadge(row.status),
    ),
    h(
      "span",
      { class: "line muted" },
      h("span", { class: "grow" }, row.operation ?? "no such operation"),
      row.fault === undefined ? undefined : badge(row.fault, "fault"),
      time(row.at),
    ),
  ],
  /** @param {RequestDetail} request */
  detail: (request) => [
    h(
      "div",
      { class: "title" },
      h("h2", { class: "mono" }, `${request.method} ${request.target}`),
      copyButton(request),
    ),
    h(
      "p",
      { class: "badges" },
      statusBadge(request.status),
      h("span", {}, effect(request)),
      h("span", { class: "muted" }, momentOf(request.at)),
    ),
    facts([
      ["Operation", request.operation ?? "none: the service has no such path"],
      ["Workspace", request.workspace],
    ]),
    Object.keys(request.query).length === 0
      ? undefined
      : section("Query", facts(Object.entries(request.query).map(([name, value]) => [name, value]))),
    request.body === undefined ? undefined : section("Request body", body(request.body)),
    request.answer.body === ""
      ? section(
          "Response",
          h("p", { class: "muted" }, request.status === undefined ? "None." : "Without a body."),
        )
      : section(
          "Response",
          body(request.answer.body),
          request.answer.length > request.answer.body.length
            ? h(
                "p",
                { class: "muted" },
                `The first ${request.answer.body.length} of ${request.answer.length} characters.`,
              )
            : undefined,
        ),
    section("Request headers", headersOf(request.headers)),
    Object.keys(request.answer.headers).length === 0
      ? undefined
      : section("Response headers", headersOf(request.answer.headers)),
  ],
  empty: () => [
    h("h2", {}, "No requests yet"),
    h("p", {}, "Lead a program here, and each of its calls appears at once:"),
    h("pre", { class: "code", tabindex: 0 }, `export TOUCHPOINT_BASE_URL=${location.origin}`),
  ],
};
