import { div, h, p, span, svg } from "./dom.js";
import { duration } from "./format.js";

/** @typedef {import("../workbench/overview.ts").BudgetSeries} BudgetSeries */

const width = 600;
const height = 90;

/** @param {number} used @param {number} max */
const levelOf = (used, max) => (used >= 0.95 * max ? "full" : used >= 0.7 * max ? "near" : "calm");
const words = { full: "used up", near: "nearly used up", calm: "room left" };

/** Draws steps instead of slopes, because the use stays the same from one point to the next. @param {BudgetSeries} series @param {number} from @param {number} to */
const stepsOf = ({ points, max }, from, to) => {
  const x = (/** @type {number} */ at) => Math.max(0, ((at - from) / (to - from)) * width);
  const y = (/** @type {number} */ used) => height - (Math.min(used, max) / max) * height;
  let path = "";
  for (const [at, used] of points) {
    path +=
      path === ""
        ? `M${x(at).toFixed(1)} ${y(used).toFixed(1)}`
        : `H${x(at).toFixed(1)}V${y(used).toFixed(1)}`;
  }
  return path === "" ? `M0 ${height}H${width}` : `${path}H${width}`;
};

/** @param {BudgetSeries} series @param {number} from @param {number} to */
const plot = (series, from, to) => {
  const { used, max, owner, limit, points } = series;
  const most = Math.max(used, ...points.map(([, one]) => one));
  const label = `${limit} of ${owner}: ${used} of ${max} used now, ${most} at most in the last ${duration(to - from)}`;
  const steps = stepsOf(series, from, to);
  const start = /^M([\d.]+)/.exec(steps)?.[1] ?? 0;
  return svg(
    "svg",
    {
      class: `use ${levelOf(used, max)}`,
      role: "img",
      "aria-label": label,
      viewBox: `0 -2 ${width} ${height + 4}`,
      preserveAspectRatio: "none",
    },
    ...[0, 0.5, 1].map((part) =>
      svg("line", { class: "grid", x1: 0, x2: width, y1: height * part, y2: height * part }),
    ),
    svg("path", { class: "area", d: `${steps}V${height}H${start}Z` }),
    svg("path", { class: "steps", d: steps }),
  );
};

/** @param {BudgetSeries} series @param {number} from @param {number} to */
const card = (series, from, to) => {
  // The last point before the period is the use at its start.
  const first = Math.max(
    0,
    series.points.findLastIndex(([at]) => at < from),
  );
  const shown = { ...series, points: series.points.slice(first) };
  const { limit, used, max, windowMs } = series;
  const level = levelOf(used, max);
  return h(
    "section",
    { class: "budget", "data-limit": limit },
    h("h3", {}, limit, h("small", {}, ` ${max.toLocaleString("en")} per ${duration(windowMs)}`)),
    p(
      `use ${level}`,
      h("b", {}, used.toLocaleString("en")),
      ` of ${max.toLocaleString("en")} · ${words[level]}`,
    ),
    plot(shown, from, to),
    p("axis muted", h("span", {}, `${duration(to - from)} ago`), h("span", {}, "now")),
  );
};

const spans = [60_000, 120_000, 600_000, 3_600_000, 86_400_000];
let spanMs = 120_000;

/** @param {{ series: BudgetSeries[], refusals: number[] }} budgets @param {number} now @param {() => void} onSpan */
export const budgetsView = ({ series, refusals }, now, onSpan) => {
  const from = now - spanMs;
  const owners = [...new Set(series.map(({ owner }) => owner))];
  const recent = refusals.filter((at) => at >= from).length;
  const select = h(
    "select",
    {
      onchange: () => {
        spanMs = Number(select.value);
        onSpan();
      },
    },
    ...spans.map((ms) => h("option", { value: ms, selected: ms === spanMs }, `last ${duration(ms)}`)),
  );
  return [
    div("title", h("h2", {}, "Budgets"), h("label", {}, "Period ", select)),
    p(
      "legend",
      span("calm", "room left"),
      span("near", "from 70 %"),
      span("full", "from 95 %"),
      span("muted", `${recent === 1 ? "1 response" : `${recent} responses`} with status 429 in this period`),
    ),
    ...owners.map((owner) =>
      h(
        "section",
        { "aria-label": owner },
        h("h2", { class: "owner" }, owner),
        div("cards", ...series.filter((one) => one.owner === owner).map((one) => card(one, from, now))),
      ),
    ),
    series.length === 0 ? p("", "This sandbox has no limits (limits: false).") : undefined,
  ];
};
