import { isLoopback } from "../runtime/values.ts";

/** Variables of the environment. `new Client` reads them; `withOptions` reuses the values of its client. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The proxy of a client. */
export interface ProxyRoute {
  /** The URL of the proxy; undefined if there is none. */
  readonly proxy: string | undefined;
  /** Hosts that need no proxy, as `NO_PROXY` lists them. */
  readonly noProxy: string;
}

/** Whether undici can use the URL, including decoding its user name and password. */
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

const direct: ProxyRoute = { proxy: undefined, noProxy: "" };

/**
 * The variable that names the proxy for an origin, with its value; an empty value counts as none. As in undici, a
 * variable in lower case takes precedence, and https uses the http proxy if there is no https proxy.
 */
const fromEnv = (env: Environment, isPlain: boolean) => {
  const [http, https] = [env.http_proxy ?? env.HTTP_PROXY, env.https_proxy ?? env.HTTPS_PROXY];
  return isPlain || !https ? (["HTTP_PROXY", http || undefined] as const) : (["HTTPS_PROXY", https] as const);
};

/**
 * The proxy for requests to an origin. Plain http to this machine uses none, because the proxy would see the key.
 *
 * @param value - the option: `env`, a URL, or undefined.
 */
export const proxyRoute = (
  value: unknown,
  { origin, environment }: { readonly origin: string; readonly environment: Environment },
  faults: string[],
): ProxyRoute => {
  const isFromEnv = value === "env" || (value === undefined && environment.NODE_USE_ENV_PROXY === "1");
  const isPlain = origin.startsWith("http:");
  const [name, proxy] = isFromEnv ? fromEnv(environment, isPlain) : (["proxy", value] as const);
  if (proxy === undefined) return direct;
  if (typeof proxy !== "string" || !isProxyUrl(proxy)) {
    faults.push(urlFault(name));
    return direct;
  }
  if (isPlain && isLoopback(new URL(origin).hostname)) return direct;
  return { proxy, noProxy: isFromEnv ? (environment.no_proxy ?? environment.NO_PROXY ?? "") : "" };
};
