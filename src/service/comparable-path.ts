const escapes = /%[0-7][0-9a-f]/gi;

/** Normalizes a path as a service may do: letter case, escapes, extra slashes and dot segments don't matter. */
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
 * Whether a path contains `base`, with or without more segments after it. The match may be anywhere in the path,
 * because the base URL or a gateway may put segments before it. A suffix, as in `emails;v=1` or `emails.json`, also
 * matches, because a service may treat both paths as the same.
 */
export const isWithin = (path: string, base: string): boolean =>
  path.split(base).some((rest, index) => index > 0 && !/^[a-z0-9_-]/.test(rest));
