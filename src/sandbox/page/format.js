import { h, span } from "./dom.js";

/** `14:03:07`, on the sandbox's clock. @param {string} at */
export const timeOf = (at) => at.slice(11, 19);

/** `2026-03-01 14:03:07 UTC` @param {string} at */
export const momentOf = (at) => `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`;

let today = "";

/** Sets today's date on the sandbox's clock. Times of another day are shown with their date. @param {string} at */
export const setToday = (at) => {
  today = at.slice(0, 10);
};

/** @param {string} at */
export const time = (at) =>
  h(
    "time",
    { datetime: at, title: momentOf(at) },
    at.startsWith(today) ? timeOf(at) : `${at.slice(5, 10)} ${at.slice(11, 16)}`,
  );

/** `1 min 30 s` @param {number} ms */
export const duration = (ms) => {
  const units = /** @type {const} */ ([
    ["d", 86_400_000],
    ["h", 3_600_000],
    ["min", 60_000],
    ["s", 1_000],
  ]);
  let left = Math.round(ms / 1_000) * 1_000;
  const parts = units.flatMap(([unit, size]) => {
    const count = Math.floor(left / size);
    left -= count * size;
    return count === 0 ? [] : [`${count} ${unit}`];
  });
  return parts.slice(0, 2).join(" ") || "0 s";
};

/** `80 ms` below one second, `1.2 s` above. @param {number} ms */
export const milliseconds = (ms) => (ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`);

/** JSON with names and values in different colors. @param {unknown} value */
export const json = (value) => {
  const text = JSON.stringify(value, null, 2) ?? "";
  const pattern = /("(?:\\.|[^"\\])*")(\s*:)?|\b(true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    parts.push(text.slice(end, match.index));
    const [whole, quoted, colon = ""] = match;
    const kind = quoted === undefined ? "literal" : colon === "" ? "string" : "name";
    parts.push(span(`json-${kind}`, quoted ?? whole), colon);
    end = match.index + whole.length;
  }
  return h("pre", { class: "code", tabindex: 0 }, ...parts, text.slice(end));
};

/** Shows a body: JSON is formatted, any other text is unchanged. @param {unknown} body */
export const body = (body) => {
  if (typeof body !== "string") return json(body);
  try {
    return json(JSON.parse(body));
  } catch {
    return h("pre", { class: "code", tabindex: 0 }, body);
  }
};

/** A small label. The text carries the meaning, because not everybody sees the color. @param {string} text @param {string} kind */
export const badge = (text, kind) => span(`badge ${kind}`, text);

/** @param {number | undefined} status */
export const statusBadge = (status) =>
  badge(
    status === undefined ? "no response" : String(status),
    status === undefined || status >= 500 ? "failed" : status >= 400 ? "refused" : "ok",
  );

/** Names and values. @param {readonly (readonly [string, Node | string | number | undefined])[]} pairs */
export const facts = (pairs) =>
  h(
    "dl",
    { class: "facts" },
    ...pairs
      .filter(([, value]) => value !== undefined && value !== "")
      .map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
  );

/** A section with a heading. @param {string} title @param {(Node | string | undefined)[]} children */
export const section = (title, ...children) => h("section", {}, h("h3", {}, title), ...children);

/** @param {NonNullable<ReturnType<typeof import("../workbench/people.ts").contactDetail>>["history"]} entries */
export const history = (entries) =>
  section(
    "History",
    h(
      "ol",
      { class: "history" },
      ...entries.map(({ at, what, link }) =>
        h("li", {}, time(at), link === undefined ? h("span", {}, what) : h("a", { href: `#/${link}` }, what)),
      ),
    ),
  );
