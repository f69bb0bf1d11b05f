import type { RawHeaders } from "../runtime/headers.ts";
import type { HttpResponse } from "./message.ts";

const longestName = 60;
const longestTitle = 100;
const longestPlace = 200;
// The title of a page is near its top. Limit the search, because a body can have any length.
const topOfPage = 2_048;

const oneLine = (text: string, longest: number): string => {
  const line = text.replace(/[\s\p{C}]+/gu, " ").trim();
  return line.length > longest ? `${line.slice(0, longest)}…` : line;
};

const lastOf = (value: RawHeaders[string]): string =>
  typeof value === "object" ? (value.at(-1) ?? "") : (value ?? "");

/** The `Server` header of a response, or the last gateway in its `Via` header; empty if it has neither. */
const nameOf = ({ server, via }: RawHeaders): string =>
  oneLine(lastOf(server), longestName) || oneLine(lastOf(via).split(",").at(-1) ?? "", longestName);

// The title of each page of Express is `Error`. The reason is in its <pre>.
const headings = [/<(?:title|h1)[^<>]*>(?!Error<)([^<]+)/i, /<pre>([^<]+)/i];

/** The title of a page, or the first line of plain text. It leaves out the status, which the message names anyway. */
const titleOf = ({ text, status }: HttpResponse): string => {
  const top = text.slice(0, topOfPage);
  const title = headings.map((heading) => heading.exec(top)?.[1]).find((content) => content !== undefined);
  const line = title ?? (/^\s*</.test(top) ? "" : (/[^\r\n]+/.exec(top)?.[0] ?? ""));
  return oneLine(line, longestTitle).replace(new RegExp(`^${status}\\b\\W*`), "");
};

/**
 * Describes who responded, for a response without the service's own message. Most such responses are from a gateway.
 */
export const answererOf = (response: HttpResponse): string => {
  const name = nameOf(response.headers);
  const title = titleOf(response);
  if (name === "" && title === "")
    return `a gateway or the service responded with ${response.status} without a reason`;
  return `${name || "a gateway or web server"} responded with ${response.status}${title && ` (${title})`}`;
};

/** The address in a `Location` header, without its password and query, which may be secret; empty if there is none. */
export const placeOf = ({ location }: RawHeaders): string => {
  const [place = ""] = lastOf(location).split(/[?#]/);
  return place === "" ? "" : ` to ${oneLine(place.replace(/\/\/[^/]*@/, "//"), longestPlace)}`;
};
