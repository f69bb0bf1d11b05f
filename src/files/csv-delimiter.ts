import { ConfigurationError } from "../errors.ts";

/** The character between cells, checked; a comma unless given. */
export const delimiterOf = ({ delimiter = "," }: { readonly delimiter?: string | undefined }): string => {
  if (typeof delimiter === "string" && delimiter.length === 1 && !/["\r\n]/.test(delimiter)) return delimiter;
  throw new ConfigurationError(
    `delimiter must be one character and neither a quote nor a line end, got ${JSON.stringify(delimiter)}`,
  );
};
