import { Client, ConfigurationError, type Hooks } from "../index.ts";
import { UsageError } from "./cli-command.ts";

/**
 * Makes the client. Key and address come from the environment alone: arguments show in lists of processes.
 *
 * @throws UsageError when they are missing or wrong.
 */
export const connect = (hooks: Hooks): Client => {
  try {
    return new Client({ hooks });
  } catch (error) {
    if (error instanceof ConfigurationError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
};
