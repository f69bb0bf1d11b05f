import { isLoopback } from "../runtime/values.ts";

/** Variables of the environment. `new Client` reads them; `withOptions` reuses the values of its client. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Whether the URL is usable, including decoding its user name and password. */
const isProxyUrl = (text: string): boolean => {
  try {
    const { protocol, username, password } = new URL(text);
    for (const part of [username, password]) decodeURIComponent(part);
    return protocol === "http:" || protocol === "https:";
  } catch {
    return false;
  }
};

/** Describes a wrong proxy URL without repeating it, because the URL may contain a password. */
const urlFault = (name: string): string =>
  `${name} must be ${name === "proxy" ? '"env" or ' : ""}the URL of a proxy, http://host:port or https://host:port; ` +
  "a user name and password before the host must be percent-encoded";

/**
 * The variable that names the proxy for an origin, with its value; an empty value counts as none. As in undici, a
 * variable in lower case takes precedence, and https uses the http proxy if there is no https proxy.
 */
const fromEnv = (env: Environment, isPlain: boolean) => {
  const [http, https] = [env.http_proxy ?? env.HTTP_PROXY, env.https_proxy ?? env.HTTPS_PROXY];
  return isPlain || !https ? (["HTTP_PROXY", http || undefined] as const) : (["HTTPS_PROXY", https] as const);
};

/** Whether `NO_PROXY` excludes a host or its parent domain. An entry with a port excludes only that port. */
const isExcluded = (noProxy: string, { hostname, port, protocol }: URL): boolean => {
  const ownPort = port || (protocol === "https:" ? "443" : "80");
  return noProxy.split(/[,\s]+/).some((entry) => {
    const [, host = entry, entryPort = ownPort] = /^(.+):(\d+)$/.exec(entry) ?? [];
    const domain = host.replace(/^\*?\./, "").toLowerCase();
    return entry === "*" || (domain !== "" && entryPort === ownPort && `.${hostname}`.endsWith(`.${domain}`));
  });
};

/**
 * The URL of the proxy for requests to an origin; undefined if there is none. Plain http to this machine uses none,
 * because the proxy would see the key.
 *
 * @param value - the option: `env`, a URL, or undefined.
 */
export const proxyFor = (
  value: unknown,
  { origin, environment }: { readonly origin: string; readonly environment: Environment },
  faults: string[],
): string | undefined => {
  const isFromEnv = value === "env" || (value === undefined && environment.NODE_USE_ENV_PROXY === "1");
  const isPlain = origin.startsWith("http:");
  const [name, proxy] = isFromEnv ? fromEnv(environment, isPlain) : (["proxy", value] as const);
  if (proxy === undefined) return undefined;
  if (typeof proxy !== "string" || !isProxyUrl(proxy)) {
    faults.push(urlFault(name));
    return undefined;
  }
  // An invalid base URL is a fault already.
  if (origin === "") return undefined;
  const url = new URL(origin);
  if (isPlain && isLoopback(url.hostname)) return undefined;
  const noProxy = environment.no_proxy ?? environment.NO_PROXY ?? "";
  return isFromEnv && isExcluded(noProxy, url) ? undefined : proxy;
};
