import { fetchJson } from "./api.js";
import { budgetsView } from "./budgets.js";
import { showControls, startControls } from "./controls.js";
import { announce, byId, div, h, keepList, p, span } from "./dom.js";
import { emails } from "./emails.js";
import { duration, momentOf, setToday } from "./format.js";
import { contacts, events } from "./people.js";
import { requests } from "./requests.js";

/** @typedef {ReturnType<typeof import("../workbench/overview.ts").overviewOf>} Overview */
/** @typedef {{ items: readonly object[], more: boolean, note?: string }} Rows */
// Rows are JSON from /_sandbox. The module of each list declares the exact type of its rows.
/**
 * @typedef {{
 *   label: string,
 *   keyOf(row: object): string,
 *   row(row: object): readonly (Node | undefined)[],
 *   detail(detail: object): readonly (Node | undefined)[],
 *   empty(): readonly Node[],
 * }} View
 */

/** @type {Record<string, View>} */
const lists = { requests, emails, contacts, events };
const labels = {
  ...Object.fromEntries(Object.entries(lists).map(([name, { label }]) => [name, label])),
  budgets: "Budgets",
};

/** @type {Overview | undefined} */
let overview;
let receivedAt = 0;
const filter = { search: "", kind: "", operation: "" };
let workspace = "default";

const route = () => {
  const [, name = "", id = ""] = location.hash.split("/");
  return { name: name in labels ? name : "requests", id: decodeURIComponent(id) };
};

/** Milliseconds since 1970 on the sandbox's clock. */
const now = () =>
  overview === undefined
    ? 0
    : Date.parse(overview.at) + (overview.frozen ? 0 : performance.now() - receivedAt);

/** @param {string} name */
const countOf = (name) => {
  const one = overview?.workspaces.find((each) => each.name === workspace);
  const counts = {
    requests: overview?.counts.requests,
    emails: (one?.emails ?? 0) + (one?.scheduled ?? 0),
    contacts: one?.contacts,
    events: one?.events,
  };
  return name in counts ? counts[/** @type {keyof typeof counts} */ (name)] : undefined;
};

const showClock = () => {
  if (overview === undefined) return;
  const at = new Date(now()).toISOString();
  const clock = byId("clock");
  clock.textContent = momentOf(at);
  clock.setAttribute("datetime", at);
  const { aheadMs, frozen } = overview;
  byId("ahead").textContent = frozen ? "frozen" : aheadMs >= 1_000 ? `${duration(aheadMs)} ahead` : "";
};

const showViews = () => {
  const { name } = route();
  keepList(
    byId("views"),
    Object.entries(labels).map(([id, label]) => ({ id, label, count: countOf(id), isCurrent: id === name })),
    ({ id }) => id,
    ({ id, label, count, isCurrent }) =>
      h(
        "li",
        {},
        h(
          "a",
          { href: `#/${id}`, "aria-current": isCurrent ? "page" : undefined },
          `${label} `,
          count === undefined ? undefined : span("count", count.toLocaleString("en")),
        ),
      ),
  );
  const select = /** @type {HTMLSelectElement} */ (byId("workspace"));
  const names = overview?.workspaces.map((one) => one.name) ?? [];
  if (select.options.length !== names.length)
    select.replaceChildren(...names.map((one) => h("option", {}, one)));
  select.hidden = names.length < 2;
  document.title = `${labels[/** @type {keyof typeof labels} */ (name)]} · Touchpoint sandbox`;
};

/** @param {string} name */
const searchOf = (name) => {
  const query = new URLSearchParams({ workspace, search: filter.search });
  if (name === "requests")
    for (const part of /** @type {const} */ (["kind", "operation"])) query.set(part, filter[part]);
  return query;
};

const kinds = { "": "All", ok: "Succeeded", refused: "Refused", failed: "Failed", fault: "Faults" };

const requestFilters = () => [
  h(
    "fieldset",
    { class: "chips" },
    h("legend", { class: "hidden" }, "Responses"),
    ...Object.entries(kinds).map(([kind, label]) =>
      h(
        "label",
        {},
        h("input", {
          type: "radio",
          name: "kind",
          value: kind,
          checked: kind === filter.kind,
          onchange: () => refilter({ kind }),
        }),
        label,
      ),
    ),
  ),
  h(
    "select",
    {
      "aria-label": "Operation",
      onchange: (event) => refilter({ operation: /** @type {HTMLSelectElement} */ (event.target).value }),
    },
    h("option", { value: "" }, "All operations"),
    ...(overview?.operations ?? []).map((id) => h("option", { selected: id === filter.operation }, id)),
  ),
];

/** The empty frame of a view with a list; `refresh` fills it. @param {string} name */
const frameOf = (name) => {
  const search = h("input", {
    type: "search",
    value: filter.search,
    placeholder: "Search",
    "aria-label": `Search ${labels[/** @type {keyof typeof labels} */ (name)]}`,
    oninput: () => refilter({ search: search.value }),
  });
  const list = h("ul", { id: "list", "aria-label": labels[/** @type {keyof typeof labels} */ (name)] });
  list.addEventListener("keydown", (event) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const links = [...list.querySelectorAll("a")];
    const next = links[links.indexOf(/** @type {HTMLAnchorElement} */ (event.target)) + step];
    if (step === 0 || next === undefined) return;
    event.preventDefault();
    next.focus();
  });
  return [
    h(
      "section",
      { class: "lister", "aria-label": "List" },
      h(
        "div",
        { class: "filters", role: "search" },
        search,
        ...(name === "requests" ? requestFilters() : []),
      ),
      list,
      h("p", { id: "more", class: "muted" }),
    ),
    h("article", { id: "detail", "aria-label": "Detail", tabindex: -1 }),
  ];
};

/** Shows the details. Skips details that are already shown, because the frame of an email would reload. @param {string} shown @param {readonly (Node | undefined)[]} nodes */
const showDetail = (shown, nodes) => {
  const detail = byId("detail");
  if (detail.dataset.shown === shown) return;
  detail.dataset.shown = shown;
  detail.replaceChildren(...nodes.filter((node) => node !== undefined));
};

/** @param {string} name @param {View} view @param {string} id */
const refreshList = async (name, view, id) => {
  const [rows, detail] = await Promise.all([
    /** @type {Promise<Rows>} */ (fetchJson(`${name}?${searchOf(name)}`)),
    id === ""
      ? undefined
      : /** @type {Promise<object | undefined>} */ (
          fetchJson(`${name}/${encodeURIComponent(id)}?workspace=${encodeURIComponent(workspace)}`)
        ),
  ]);
  if (route().name !== name || route().id !== id) return;
  keepList(
    byId("list"),
    rows.items.map((row) => ({ row, isCurrent: view.keyOf(row) === id })),
    ({ row }) => view.keyOf(row),
    ({ row, isCurrent }) =>
      h(
        "li",
        {},
        h(
          "a",
          {
            href: `#/${name}/${encodeURIComponent(view.keyOf(row))}`,
            "aria-current": isCurrent ? "true" : undefined,
          },
          ...view.row(row),
        ),
      ),
  );
  const isFiltered = filter.search !== "" || (name === "requests" && filter.kind + filter.operation !== "");
  const more = byId("more");
  more.textContent = [
    rows.more ? "Older items are not listed. Use the search to find them." : "",
    isFiltered && rows.items.length === 0 ? "No matches." : "",
    rows.note ?? "",
  ].join(" ");
  byId("content").classList.toggle("chosen", id !== "");
  if (id === "") {
    const isEmpty = rows.items.length === 0 && !isFiltered;
    showDetail(`${name}:${isEmpty}`, [
      div("empty", ...(isEmpty ? view.empty() : [p("muted", "Select an item in the list.")])),
    ]);
    return;
  }
  const back = h("a", { class: "back", href: `#/${name}` }, "‹ All");
  showDetail(`${name}/${id}:${JSON.stringify(detail)}`, [
    back,
    ...(detail === undefined ? [p("empty", "This item no longer exists.")] : view.detail(detail)),
  ]);
};

const refreshBudgets = async () => {
  const budgets = /** @type {Parameters<typeof budgetsView>[0]} */ (await fetchJson("budgets"));
  if (route().name !== "budgets") return;
  const content = byId("content");
  // Do not replace an open select.
  if (content.contains(document.activeElement) && document.activeElement?.matches("select:open")) return;
  const hadFocus = document.activeElement?.closest("#content select") !== null;
  content.replaceChildren(
    h(
      "article",
      { class: "wide" },
      ...budgetsView(budgets, now(), refresh).filter((node) => node !== undefined),
    ),
  );
  if (hadFocus) content.querySelector("select")?.focus();
};

let isBusy = false;
let isStale = false;

/** Loads the current view. Calls during a load cause one more load after it. */
const refresh = async () => {
  isStale = true;
  if (isBusy) return;
  isBusy = true;
  while (isStale) {
    isStale = false;
    const { name, id } = route();
    const view = lists[name];
    try {
      if (view === undefined) await refreshBudgets();
      else await refreshList(name, view, id);
    } catch (error) {
      announce(error instanceof Error ? error.message : String(error), true);
    }
  }
  isBusy = false;
};

/** @param {Partial<typeof filter>} change */
const refilter = (change) => {
  Object.assign(filter, change);
  refresh();
};

let shownView = "";
const showRoute = () => {
  const { name, id } = route();
  showViews();
  if (shownView !== name) {
    filter.search = "";
    byId("content").className = name;
    byId("content").replaceChildren(...(name in lists ? frameOf(name) : []));
    shownView = name;
  }
  refresh().then(() => {
    // On a narrow screen the details hide the list, so move the focus to the details.
    if (id !== "" && matchMedia("(max-width: 760px)").matches) byId("detail").focus();
  });
};

const follow = () => {
  const live = byId("live");
  const stream = new EventSource("/_sandbox/stream");
  stream.addEventListener("state", (event) => {
    overview = JSON.parse(event.data);
    receivedAt = performance.now();
    live.textContent = "live";
    live.className = "live on";
    byId("ended").hidden = true;
    if (overview !== undefined) {
      showControls(overview);
      setToday(overview.at);
    }
    showClock();
    if (shownView === "") showRoute();
    else {
      showViews();
      refresh();
    }
  });
  stream.addEventListener("error", () => {
    live.textContent = "not connected";
    live.className = "live off";
    byId("ended").hidden = false;
  });
};

byId("workspace").addEventListener("change", (event) => {
  workspace = /** @type {HTMLSelectElement} */ (event.target).value;
  location.hash = `#/${route().name}`;
  showViews();
  refresh();
});
addEventListener("hashchange", showRoute);
setInterval(() => {
  showClock();
  if (route().name === "budgets" && !overview?.frozen) refresh();
}, 1_000);
startControls();
follow();
