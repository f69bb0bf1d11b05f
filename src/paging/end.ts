import type { Page } from "../schemas/common.ts";
import type { PageRequest } from "./ahead.ts";

/** Whether nothing follows a page. */
// A total may be stale, or count only the page: a full page is believed to be the last one only once nothing follows.
export const isLast = ({ skip, limit }: PageRequest, { data, total }: Page<unknown>): boolean =>
  data.length === 0 || (data.length < limit && total === skip + data.length);

/** Whether a page of `length` records without anything new stands at the end of the list. */
export const isStuck = (
  { skip, limit }: PageRequest,
  length: number,
  { position, longest }: { readonly position: number; readonly longest: number },
): boolean => {
  if (skip + length > position) return false;
  // Unless the service caps its pages at what they share: then the next one is asked for with less.
  return length === limit || length < longest;
};
