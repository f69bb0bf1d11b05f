import type { Incoming } from "../answer.ts";

/**
 * Whether a page of another origin asks. Browsers say so in `Sec-Fetch-Site` or `Origin`, which pages cannot set;
 * programs send neither and are let through, since they need no browser to reach this machine.
 */
export const isFromElsewhere = ({ headers }: Pick<Incoming, "headers">): boolean => {
  const { origin, host, "sec-fetch-site": site } = headers;
  if (site !== undefined && site !== "same-origin" && site !== "none") return true;
  return origin !== undefined && origin !== `http://${host}`;
};
