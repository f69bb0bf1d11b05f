/** The name in a `Host` header, without its port and in lower case; undefined where there is none. */
const nameIn = (header: string | undefined): string | undefined => {
  const url = `http://${header ?? ""}`;
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$|\.$/g, "") : undefined;
};

const isLoopback = (name: string): boolean =>
  name === "localhost" || name === "::1" || /^127(\.\d+){3}$/.test(name);

/** What the check goes by. */
export interface HostRule {
  /** Names that lead here: the host listened at, and further ones the caller gave. */
  readonly names: readonly string[];
  /** The address at which this connection arrived. */
  readonly address: string | undefined;
}

/**
 * Whether a request means this server. A web page whose own name was made to point at this machine (DNS rebinding)
 * sends that name, and must not read what lies here; an address cannot be rebound.
 */
export const isMeantHere = (header: string | undefined, { names, address }: HostRule): boolean => {
  const name = nameIn(header);
  if (name === undefined) return false;
  return (
    isLoopback(name) ||
    name === address?.replace(/^::ffff:/, "") ||
    names.some((own) => nameIn(bracketed(own)) === name)
  );
};

/** A host as it stands in a URL: an IPv6 address in brackets. */
export const bracketed = (host: string): string =>
  host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
