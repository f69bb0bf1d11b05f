import { ConfigurationError } from "../errors.ts";
import { unknownKeys } from "../runtime/values.ts";

/** What the value of each option must be. */
export type OptionKinds = Readonly<
  Record<string, "function" | "boolean" | "number" | "string" | "object" | "any">
>;

const kindFaults = (options: object, kinds: OptionKinds): string[] =>
  Object.entries(options).flatMap(([name, value]: [string, unknown]) => {
    const kind = kinds[name] ?? "any";
    const fits = kind === "any" || value === undefined || (typeof value === kind && value !== null);
    return fits
      ? []
      : [
          `${name} must be ${kind === "object" ? "an" : "a"} ${kind}, got ${value === null ? "null" : typeof value}`,
        ];
  });

/**
 * Reads the options of a function; null stands for none.
 *
 * @throws ConfigurationError naming every option that does not exist or has the wrong kind of value.
 */
export const knownOptions = <T extends object>(
  caller: string,
  given: T | null | undefined,
  kinds: OptionKinds,
  none: T,
): T => {
  if (given === null || given === undefined) return none;
  if (typeof given !== "object") throw new ConfigurationError(`${caller}: the options must be an object`);
  const faults = [...unknownKeys(given, Object.keys(kinds)), ...kindFaults(given, kinds)];
  if (faults.length > 0) throw new ConfigurationError(`${caller}: ${faults.join("; ")}`);
  return given;
};
