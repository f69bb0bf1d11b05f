import { ConfigurationError } from "../../../src/errors.ts";

/** The message of the ConfigurationError that a call throws; `accepted` where it throws none. */
export const refusalOf = (call: () => unknown): string => {
  try {
    call();
    return "accepted";
  } catch (error) {
    if (error instanceof ConfigurationError) return error.message;
    throw error;
  }
};
