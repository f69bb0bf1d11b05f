/** Text that is safe in HTML, and nothing else is. */
export interface Html {
  readonly html: string;
}

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => escapes[character] ?? "");

const isHtml = (value: unknown): value is Html =>
  typeof value === "object" && value !== null && "html" in value;

const written = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(written).join("");
  if (isHtml(value)) return value.html;
  return value === undefined || value === null ? "" : escaped(String(value));
};

/** A template that escapes every value put into it, unless it was made by this template itself. */
export const html = (parts: TemplateStringsArray, ...values: readonly unknown[]): Html => ({
  html: parts.reduce((text, part, index) => text + written(values[index - 1]) + part),
});

/** Rows of cells under headings; `shown` of `total` are in it. */
export const table = (
  title: string,
  headings: readonly string[],
  rows: readonly (readonly unknown[])[],
  total = rows.length,
): Html => html`<section>
<h2>${title} <small>${total > rows.length ? `latest ${rows.length} of ${total}` : total}</small></h2>
<table><thead><tr>${headings.map((heading) => html`<th>${heading}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody></table>
</section>`;
