import { fetchJson } from "./api.js";
import { announce, byId, h, span } from "./dom.js";
import { duration } from "./format.js";

/** @typedef {ReturnType<typeof import("../workbench/overview.ts").overviewOf>} Overview */

/** @param {string} id @returns {void} */
const close = (id) => byId(id).hidePopover();

/** Does the work, closes the panel and announces the result. @param {string} panel @param {() => Promise<string>} work */
const attempt = async (panel, work) => {
  try {
    announce(await work());
    close(panel);
  } catch (error) {
    announce(error instanceof Error ? error.message : String(error), true);
  }
};

/** @param {string} panel @param {(fields: FormData) => Promise<string>} work */
const onSubmit = (panel, work) => {
  const form = /** @type {HTMLFormElement} */ (byId(`${panel === "data" ? "seed" : panel}-form`));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(panel, () => work(new FormData(form)));
  });
};

/** @param {number} ms */
const advance = async (ms) => {
  await fetchJson("advance", "POST", { ms });
  return `The clock has advanced by ${duration(ms)}.`;
};

/** @param {unknown} planned */
const faultText = (planned) =>
  typeof planned === "string"
    ? planned
    : Object.entries(Object(planned))
        .map(([name, value]) => `${name} ${value}`)
        .join(", ");

/** @param {Overview["plans"][number]} plan */
const planItem = ({ id, options: { operation = "*", times = 1, with: planned }, hits }) =>
  h(
    "li",
    { class: "line" },
    span("grow", `${operation === "*" ? "any call" : operation}: ${faultText(planned)}`),
    times === 1 ? undefined : span("muted", `${hits} of ${times}`),
    h(
      "button",
      {
        type: "button",
        onclick: () => fetchJson(`fail/${id}`, "DELETE").then(() => announce("Fault removed.")),
      },
      "Remove",
    ),
  );

/** Attaches the event listeners of the controls. */
export const startControls = () => {
  const operation = /** @type {HTMLSelectElement} */ (byId("fail").querySelector("[name=operation]"));
  const fault = /** @type {HTMLSelectElement} */ (byId("fail").querySelector("[name=with]"));
  fault.addEventListener("change", () => {
    byId("status-field").hidden = fault.value !== "status";
  });
  onSubmit("fail", async (fields) => {
    const chosen = String(fields.get("with"));
    const times = Number(fields.get("times"));
    const planned = chosen === "status" ? { status: Number(fields.get("status")) } : JSON.parse(chosen);
    await fetchJson("fail", "POST", { operation: operation.value, times, with: planned });
    const which = operation.value === "*" ? "" : ` of ${operation.value}`;
    return times === 1 ? `The next call${which} fails.` : `The next ${times} calls${which} fail.`;
  });

  for (const ms of [10_000, 60_000, 600_000, 3_600_000, 86_400_000])
    byId("steps").append(
      h(
        "button",
        { type: "button", onclick: () => attempt("advance", () => advance(ms)) },
        `+ ${duration(ms)}`,
      ),
    );
  onSubmit("advance", (fields) => advance(Number(fields.get("amount")) * Number(fields.get("unit"))));

  const freeze = byId("freeze");
  freeze.addEventListener("click", async () => {
    const { frozen } = /** @type {{ frozen: boolean }} */ (
      await fetchJson("freeze", "POST", { frozen: freeze.getAttribute("aria-pressed") !== "true" })
    );
    announce(frozen ? "The clock is frozen. Only Advance moves it." : "The clock is running again.");
  });

  onSubmit("data", async (fields) => {
    const { contacts } = /** @type {{ contacts: number }} */ (
      await fetchJson("seed", "POST", { contacts: Number(fields.get("contacts")) })
    );
    return `There are ${contacts.toLocaleString("en")} contacts now.`;
  });
  const load = /** @type {HTMLInputElement} */ (byId("load"));
  load.addEventListener("change", () =>
    attempt("data", async () => {
      const text = (await load.files?.[0]?.text()) ?? "";
      load.value = "";
      await fetchJson("snapshot", "PUT", JSON.parse(text));
      return "Snapshot loaded.";
    }),
  );

  onSubmit("reset", async () => {
    await fetchJson("reset", "POST");
    return "The sandbox has been reset.";
  });
};

/** Shows the current state. @param {Overview} overview */
export const showControls = ({ plans, frozen, operations }) => {
  const select = /** @type {HTMLSelectElement} */ (byId("fail").querySelector("[name=operation]"));
  if (select.options.length === 1) for (const id of operations) select.append(h("option", {}, id));
  const planned = byId("planned");
  planned.textContent = String(plans.length);
  planned.hidden = plans.length === 0;
  byId("plans").replaceChildren(...plans.map(planItem));
  const freeze = byId("freeze");
  freeze.setAttribute("aria-pressed", String(frozen));
  freeze.textContent = frozen ? "Frozen" : "Freeze";
};
