import { ConfigurationError } from "./errors.ts";
import { fetchTransport } from "./http/transport/fetch.ts";
import type { Tunnel } from "./http/transport/proxy.ts";
import type { TransportSettings } from "./http/transport/undici.ts";
import type { Transport } from "./http/types.ts";
import { globalFetch } from "./options/snapshot.ts";

/**
 * The default transport on Cloudflare's workerd, where undici can't run, because it needs Node's sockets and
 * WebAssembly. The exports have the names of `undici.ts`, because `imports` in package.json selects one of the modules.
 */
export const undiciTransport = ({ origin, dispatcher, ...limits }: TransportSettings): Transport => {
  if (dispatcher !== undefined)
    throw new ConfigurationError("dispatcher: undici does not run in this runtime; pass a fetch instead");
  return fetchTransport(origin, globalFetch, limits);
};

/** Refuses a proxy, because a tunnel needs undici, too. */
export const loadTunnel = async (): Promise<Tunnel> => {
  throw new ConfigurationError("proxy: undici does not run in this runtime; pass a fetch instead");
};
