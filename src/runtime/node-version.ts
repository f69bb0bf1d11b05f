import { ConfigurationError } from "../errors.ts";

/** The oldest Node version that the package supports. A test compares it with `engines` in package.json. */
export const leastNode = "20.18.1";

const isOlder = (version: string, than: string): boolean => {
  const [actual, least] = [version, than].map((text) => text.split(".").map(Number));
  const index = least?.findIndex((part, i) => part !== actual?.[i]) ?? -1;
  return index >= 0 && Number(actual?.[index]) < Number(least?.[index]);
};

/**
 * Refuses a Node version that is too old. Called when the package is imported, because the package would otherwise fail
 * later, at the first missing function. Other runtimes report a compatible Node version, or none.
 *
 * @throws ConfigurationError
 */
// A worker without Node compatibility has no `process`.
export const assertNode = (version: string | undefined = globalThis.process?.versions?.node): void => {
  if (version !== undefined && isOlder(version, leastNode))
    throw new ConfigurationError(
      `touchpoint-sdk needs Node.js ${leastNode} or newer, and this is ${version}: update Node.js`,
    );
};
