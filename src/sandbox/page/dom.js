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

/** Creates an SVG element, like `h`. @param {string} tag @param {Props} [props] @param {Child[]} children */
export const svg = (tag, props = {}, ...children) =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", tag), props, children);

/** The element with this id, which must exist. @param {string} id @returns {HTMLElement} */
export const byId = (id) => {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no #${id}`);
  return element;
};

/** The item that each child of a list shows, as JSON. @type {WeakMap<Element, string>} */
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
    const previous = old.get(key);
    if (previous !== undefined && versions.get(previous) === version) return previous;
    const next = make(item);
    next.setAttribute("data-key", key);
    versions.set(next, version);
    // Replace the child in place, so that the focus can move to the same link.
    const hadFocus = previous?.contains(document.activeElement);
    previous?.replaceWith(next);
    if (hadFocus) next.querySelector("a")?.focus();
    return next;
  });
  const current = new Set(wanted);
  for (const child of [...list.children])
    if (!current.has(/** @type {HTMLElement} */ (child))) child.remove();
  for (const [index, child] of wanted.entries()) {
    if (list.children[index] !== child) list.insertBefore(child, list.children[index] ?? null);
  }
};

/** Announces a result, also to screen readers. @param {string} text @param {boolean} [isError] */
export const announce = (text, isError = false) => {
  const status = byId("announcement");
  status.textContent = text;
  status.className = isError ? "shown error" : "shown";
  clearTimeout(Number(status.dataset.timer));
  status.dataset.timer = String(setTimeout(() => status.classList.remove("shown"), isError ? 8_000 : 4_000));
};
