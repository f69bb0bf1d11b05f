import { Client, type ClientOptions, ConfigurationError } from "../index.ts";
import { type CliCommand, type Request, textOf, UsageError } from "./cli-command.ts";
import { limitsOf, limitsOption } from "./limits-option.ts";

/** The options of every command that calls the service. */
export const connectionOptions = {
  ...limitsOption,
  proxy: {
    type: "string",
    value: "<url>",
    about: "an HTTP proxy; env for that of HTTPS_PROXY and NO_PROXY, where it needs a password",
  },
} as const satisfies CliCommand["shape"]["options"];

/**
 * Makes the client. The key comes from the environment alone: arguments show in lists of processes.
 *
 * @throws UsageError when they are missing or wrong.
 */
export const connect = async (
  request: Pick<Request, "values">,
  options: Pick<ClientOptions, "hooks" | "baseUrl">,
): Promise<Client> => {
  const limits = await limitsOf(request);
  const proxy = textOf(request, "proxy");
  try {
    return new Client({
      ...options,
      ...(limits === undefined ? {} : { limits }),
      ...(proxy === undefined ? {} : { proxy }),
    });
  } catch (error) {
    if (error instanceof ConfigurationError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
};
