/** @typedef {Node | string | number | undefined | null | false} Child */
/** @typedef {Record<string, string | number | boolean | undefined | ((event: Event) => void)>} Props */

/**
 * @template {Element} E
 * @param {E} element @param {Props} props @param {readonly (Child | readonly Child[])[]} children @returns {E}
 */
const filled = (element, props, children) => {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat()) {
    if (child === undefined || child === null || child === false) continue;
    element.append(typeof child === "number" ? String(child) : child);
  }
  return element;
};

/**
 * Creates an element. Strings become text and are never parsed as HTML.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag @param {Props} [props] @param {(Child | readonly Child[])[]} children
 */
export const h = (tag, props = {}, ...children) => filled(document.createElement(tag), props, children);

/** @param {string} className @param {(Child | readonly Child[])[]} children */
export const span = (className, ...children) => h("span", { class: className }, ...children);

/** @param {string} className @param {(Child | readonly Child[])[]} children */
export const div = (className, ...children) => h("div", { class: className }, ...children);

/** @param {string} className @param {(Child | readonly Child[])[]} children */
export const p = (className, ...children) => h("p", { class: className || undefined }, ...children);

/** The same for SVG. @param {string} tag @param {Props} [props] @param {Child[]} children */
export const svg = (tag, props = {}, ...children) =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", tag), props, children);

/** The element with this id, which must exist. @param {string} id @returns {HTMLElement} */
export const byId = (id) => {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no #${id}`);
  return element;
};

/** The item of each child of a list, as JSON. @type {WeakMap<Element, string>} */
const versions = new WeakMap();

/**
 * Makes the items the children of a list. Unchanged children stay in the document and keep their focus and scroll position.
 *
 * @template T
 * @param {HTMLElement} list @param {readonly T[]} items @param {(item: T) => string} keyOf
 * @param {(item: T) => HTMLElement} make
 */
export const keepList = (list, items, keyOf, make) => {
  const old = new Map([...list.children].map((child) => [child.getAttribute("data-key"), child]));
  const wanted = items.map((item) => {
    const key = keyOf(item);
    const version = JSON.stringify(item);
    const known = old.get(key);
    if (known !== undefined && versions.get(known) === version) return known;
    const made = make(item);
    made.setAttribute("data-key", key);
    versions.set(made, version);
    // Replaced in place, so that the focus can move to the same link.
    const hadFocus = known?.contains(document.activeElement);
    known?.replaceWith(made);
    if (hadFocus) made.querySelector("a")?.focus();
    return made;
  });
  const kept = new Set(wanted);
  for (const child of [...list.children]) if (!kept.has(/** @type {HTMLElement} */ (child))) child.remove();
  for (const [index, child] of wanted.entries()) {
    if (list.children[index] !== child) list.insertBefore(child, list.children[index] ?? null);
  }
};

/** Announces a result, also to screen readers. @param {string} text @param {boolean} [isError] */
export const tell = (text, isError = false) => {
  const told = byId("told");
  told.textContent = text;
  told.className = isError ? "shown error" : "shown";
  clearTimeout(Number(told.dataset.timer));
  told.dataset.timer = String(setTimeout(() => told.classList.remove("shown"), isError ? 8_000 : 4_000));
};
