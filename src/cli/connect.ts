import { Client, type ClientOptions, ConfigurationError } from "../index.ts";
import { UsageError } from "./cli-command.ts";

/**
 * Makes the client. The key comes from the environment alone: arguments show in lists of processes.
 *
 * @throws UsageError when they are missing or wrong.
 */
export const connect = (options: Pick<ClientOptions, "hooks" | "limits" | "baseUrl">): Client => {
  try {
    return new Client(options);
  } catch (error) {
    if (error instanceof ConfigurationError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
};
