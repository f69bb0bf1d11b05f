import { div, h, p, span } from "./dom.js";
import { badge, facts, momentOf, section, time } from "./format.js";

/** @typedef {import("../workbench/emails.ts").EmailRow} EmailRow */
/** @typedef {import("../workbench/emails.ts").EmailDetail} EmailDetail */

const lost = "sent, but the response was lost";
const kinds = { SENT: "ok", SCHEDULED: "waiting", FAILED: "failed", CANCELLED: "refused" };

/** @param {EmailRow["status"]} status */
const statusOf = (status) => badge(status.toLowerCase(), kinds[status]);

/** @param {EmailDetail} email @param {"html" | "source"} part */
const pathOf = ({ id, workspace }, part) =>
  `/_sandbox/emails/${encodeURIComponent(id)}/${part}?workspace=${encodeURIComponent(workspace)}`;

/** Shows the HTML. Its Content-Security-Policy blocks scripts, forms and remote content. @param {EmailDetail} email */
const preview = (email) => {
  const frame = h("iframe", {
    sandbox: true,
    src: pathOf(email, "html"),
    title: `The email “${email.subject}”`,
  });
  const stage = div("stage", frame);
  const phone = h(
    "button",
    {
      type: "button",
      "aria-pressed": "false",
      onclick: () => phone.setAttribute("aria-pressed", String(stage.classList.toggle("phone"))),
    },
    "Phone width",
  );
  return div(
    "preview",
    p("line muted", span("grow", "Remote images are not loaded. Links are listed below."), phone),
    stage,
  );
};

/** @param {EmailDetail} email */
const source = (email) => {
  const path = pathOf(email, "source");
  const text = h("pre", { class: "code source", tabindex: 0 });
  fetch(path).then(async (response) => {
    text.textContent = await response.text();
  });
  return h(
    "div",
    {},
    p(
      "line",
      h("span", { class: "grow" }),
      h("a", { class: "button", href: path, download: `${email.id}.eml` }, "Download .eml"),
    ),
    text,
  );
};

/** Finds the links in HTML. The parsed document runs no scripts and loads nothing. @param {string} html */
const hrefsIn = (html) =>
  [...new DOMParser().parseFromString(html, "text/html").querySelectorAll("a[href]")].map((link) =>
    String(link.getAttribute("href")).trim(),
  );

/** Lists the links. Each opens in a new tab, which has no access to this page. @param {EmailDetail} email */
const links = ({ html, text = "" }) => {
  const all = html === undefined ? (text.match(/https?:\/\/[^\s<>"')]+/g) ?? []) : hrefsIn(html);
  const shown = [...new Set(all)].filter((href) => /^(https?|mailto):/i.test(href));
  if (shown.length === 0) return undefined;
  const items = shown.map((href) =>
    h("li", {}, h("a", { href, target: "_blank", rel: "noopener noreferrer" }, href)),
  );
  return section("Links", h("ul", { class: "links" }, ...items));
};

/** The selected tab, which stays selected for the next email. */
let chosen = "HTML";

/** @param {EmailDetail} email */
const tabs = (email) => {
  /** @type {Record<string, () => HTMLElement>} */
  const panels = {
    ...(email.html !== undefined ? { HTML: () => preview(email) } : {}),
    ...(email.text === undefined ? {} : { Text: () => h("pre", { class: "text", tabindex: 0 }, email.text) }),
    ...(email.headers === undefined
      ? {}
      : { Source: () => source(email), Headers: () => facts([...(email.headers ?? []), ...email.facts]) }),
  };
  const names = Object.keys(panels);
  const panel = h("div", { role: "tabpanel", id: "email-panel", tabindex: 0 });
  const buttons = names.map((name) =>
    h(
      "button",
      {
        type: "button",
        role: "tab",
        id: `tab-${name}`,
        "aria-controls": "email-panel",
        onclick: () => choose(name),
      },
      name,
    ),
  );
  const choose = (/** @type {string} */ name) => {
    for (const button of buttons) {
      const isChosen = button.textContent === name;
      button.setAttribute("aria-selected", String(isChosen));
      button.tabIndex = isChosen ? 0 : -1;
    }
    panel.setAttribute("aria-labelledby", `tab-${name}`);
    panel.replaceChildren(panels[name]?.() ?? "");
    chosen = name;
  };
  const list = h("div", { class: "tabs", role: "tablist", "aria-label": "Views of the email" }, ...buttons);
  list.addEventListener("keydown", (event) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const index = buttons.indexOf(/** @type {HTMLButtonElement} */ (event.target));
    const next = step === 0 ? undefined : buttons[(index + step + buttons.length) % buttons.length];
    next?.focus();
    next?.click();
  });
  const last = chosen;
  choose(names.includes(chosen) ? chosen : (names[0] ?? ""));
  // `choose` may have picked another tab because this email has no such tab. Keep the reader's choice.
  chosen = last;
  return [list, panel];
};

export const emails = {
  label: "Mail",
  /** @param {EmailRow} row */
  keyOf: (row) => row.id,
  /** @param {EmailRow} row */
  row: (row) => [
    span(
      "line",
      h("b", { class: "grow" }, row.subject),
      row.isLost ? badge(lost, "failed") : undefined,
      row.status === "SENT" ? undefined : statusOf(row.status),
    ),
    span("line", span("grow", row.to), span("muted", time(row.at))),
    span("line muted", span("grow", row.preview)),
  ],
  /** @param {EmailDetail} email */
  detail: (email) => [
    div("title", h("h2", {}, email.subject), email.isLost ? badge(lost, "failed") : statusOf(email.status)),
    facts([
      ["From", email.from],
      [
        "To",
        email.contactId === undefined
          ? email.to
          : h("a", { href: `#/contacts/${encodeURIComponent(email.contactId)}` }, email.to),
      ],
      [email.status === "SENT" ? "Sent" : "Scheduled for", momentOf(email.at)],
      ...(email.status === "SENT" ? [] : email.facts),
    ]),
    ...tabs(email),
    links(email),
  ],
  empty: () => [
    h("h2", {}, "No emails yet"),
    p(
      "",
      "Emails from client.emails.send() and client.emails.schedule() appear here. Nothing leaves this machine.",
    ),
  ],
};
