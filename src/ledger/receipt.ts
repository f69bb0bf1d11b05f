const longestText = 65_536;
const longestField = 1_024;
const mostLevels = 64;

const isDeeperThan = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((part) => isDeeperThan(part, levels - 1)));

const isPlain = (value: unknown): boolean =>
  typeof value === "string" ? value.length <= longestField : typeof value !== "object";

/** A receipt as JSON; undefined where it cannot be written, nests more than 64 levels or takes more than 64 KiB. */
export const receiptText = (receipt: unknown): string | undefined => {
  try {
    const text: string | undefined = isDeeperThan(receipt, mostLevels) ? undefined : JSON.stringify(receipt);
    return text === undefined || text.length > longestText ? undefined : text;
  } catch {
    return undefined;
  }
};

/**
 * A receipt's own copy that any ledger can keep: the whole where `receiptText` can write it, otherwise the texts and
 * numbers at its top. The answer to an email that went out may be anything; its key must be settled all the same.
 */
export const keepable = (receipt: unknown): unknown => {
  const whole = receiptText(receipt);
  if (whole !== undefined) return JSON.parse(whole);
  if (typeof receipt !== "object" || receipt === null) return undefined;
  const plain = Object.entries(receipt).filter(([, field]) => isPlain(field));
  const rest = receiptText(Object.fromEntries(plain));
  return rest === undefined ? undefined : JSON.parse(rest);
};
