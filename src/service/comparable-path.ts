const escapes = /%[0-7][0-9a-f]/gi;

/** Normalizes a path as a service may do it: upper case, escapes, extra slashes and dots don't matter. */
export const comparablePath = (path: string): string => {
  let [decoded = ""] = path.split("?");
  // Decode repeatedly, because a proxy in front of the service may decode, too.
  while (decoded.search(escapes) >= 0)
    decoded = decoded.replace(escapes, (hex) => String.fromCharCode(Number.parseInt(hex.slice(1), 16)));
  const url = new URL("http://service");
  url.pathname = decoded.replace(/[\\/]+/g, "/");
  return url.pathname.toLowerCase().replace(/\/$/, "");
};

/**
 * Whether a place is this one, or lies below it. Anywhere in the path, because a part of it may be in the base URL, or
 * belong to a gateway. A service may take more for the same path: `emails;v=1`, `emails.json`.
 */
export const isWithin = (path: string, base: string): boolean =>
  path.split(base).some((rest, at) => at > 0 && !/^[a-z0-9_-]/.test(rest));
