import { RecipientRefusedError } from "../errors.ts";
import { foldAscii } from "../runtime/fold-ascii.ts";
import { anything, ruleFaults } from "../runtime/rules.ts";
import { invisibleIn, isPlainObject } from "../runtime/values.ts";
import type { Log } from "./logger.ts";
import type { Environment } from "./proxy.ts";

/**
 * Allowed recipients: an address, all addresses of a domain (`*@ours.example`), or a function that returns `true` for
 * an allowed address.
 */
export type RecipientRule = string | ((address: string) => boolean);

/** The recipients to which a client may send email. */
export interface RecipientOptions {
  /**
   * The allowed addresses. An email to any other address is refused before it is sent. Letter case and display names do
   * not matter. A function gets the address in lower case, and must return `true` to allow it.
   */
  readonly allow: readonly RecipientRule[] | ((address: string) => boolean);
}

/** The checks that can prevent emails. */
export interface EmailGuards {
  /** Whether no email is sent, even if a call sets `dryRun: false`. */
  readonly isAlwaysDry: boolean;
  /** Whether no email is sent, unless a call sets `dryRun: false`. */
  readonly isDry: boolean;
  /**
   * Checks the recipients in the body of a request about an email. A new email must have a recipient; a change to an
   * email may leave the recipients out.
   *
   * @throws RecipientRefusedError when a recipient is not allowed.
   */
  check(operation: string, body: unknown, isNew: boolean): void;
}

type Covers = (address: string) => boolean;

const plainAddress = /^[^\s<>()[\],;:"\\@]+@[^\s<>()[\],;:"\\@]+$/;
const namedAddress = /^\s*(?:"[^"\\]*"|[^"<>@,;\\]*)\s*<([^<>]+)>\s*$/;

/** The address in `Ada <ada@example.com>`, in lower case; undefined if the text is not one address. */
const addressIn = (text: unknown): string | undefined => {
  if (typeof text !== "string") return undefined;
  const address = foldAscii((namedAddress.exec(text)?.[1] ?? text).trim());
  return plainAddress.test(address) && invisibleIn(address) === undefined ? address : undefined;
};

const domainPattern = /^\*(@[^\s<>()[\],;:"\\@*]+)$/;

const ruleOf = (rule: unknown, name: string, faults: string[]): Covers => {
  if (typeof rule === "function") return (address) => rule(address) === true;
  const text = typeof rule === "string" ? foldAscii(rule.trim()) : "";
  const domain = domainPattern.exec(text)?.[1];
  if (domain !== undefined && invisibleIn(domain) === undefined) return (address) => address.endsWith(domain);
  const hidden = invisibleIn(text);
  if (hidden !== undefined) faults.push(`${name} must not contain the invisible character ${hidden}`);
  else if (!plainAddress.test(text) || text.includes("*"))
    faults.push(`${name} must contain only addresses, *@domain or (in options) functions`);
  return (address) => address === text;
};

const anyOf =
  (rules: readonly Covers[]): Covers =>
  (address) =>
    rules.some((covers) => covers(address));

const fromOptions = (recipients: unknown, faults: string[]): Covers | undefined => {
  if (recipients === undefined) return undefined;
  const { allow }: { allow?: unknown } = Object(recipients);
  if (!isPlainObject(recipients) || (typeof allow !== "function" && !Array.isArray(allow))) {
    faults.push('recipients must be { allow: ["*@ours.example"] }; allow may also be a function');
    return undefined;
  }
  faults.push(...ruleFaults(recipients, { allow: anything }, { within: "recipients" }));
  const rules: readonly unknown[] = Array.isArray(allow) ? allow : [allow];
  return anyOf(rules.map((rule) => ruleOf(rule, "recipients.allow", faults)));
};

const fromEnvironment = (text: string | undefined, faults: string[]): Covers | undefined => {
  if (text === undefined) return undefined;
  const rules = text.split(",").filter((rule) => rule.trim() !== "");
  // An empty list is most likely a forgotten variable, so it must not allow everything.
  if (rules.length === 0)
    faults.push(
      "TOUCHPOINT_RECIPIENTS is empty: unset it, or set it to a comma-separated list of allowed addresses and patterns such as *@example.com",
    );
  return anyOf(rules.map((rule) => ruleOf(rule, "TOUCHPOINT_RECIPIENTS", faults)));
};

const recipientFields = ["to", "cc", "bcc"];

/** The values of the fields that name recipients. */
const recipientsIn = (body: unknown): unknown[] =>
  Object.entries(Object(body)).flatMap(([name, value]) => {
    if (!recipientFields.includes(name.toLowerCase()) || value === undefined || value === null) return [];
    return (Array.isArray(value) ? value : [value]).map((one) => Reflect.get(Object(one), "email") ?? one);
  });

/**
 * Creates the guards from the options and the environment. If both are set, an address must be allowed by both. Faults
 * are added to `faults`. The log line of a refusal does not contain the address.
 */
export const emailGuards = (
  { recipients, dryRun }: { readonly recipients?: unknown; readonly dryRun?: unknown },
  environment: Environment,
  { faults, log }: { readonly faults: string[]; readonly log: Pick<Log, "warn"> },
): EmailGuards => {
  const dryRunVariable = (environment.TOUCHPOINT_DRY_RUN ?? "").trim().toLowerCase();
  if (!["", "0", "false", "1", "true"].includes(dryRunVariable))
    faults.push("TOUCHPOINT_DRY_RUN must be 1 or 0");
  const rules: (readonly [string, Covers | undefined])[] = [
    ["recipients.allow", fromOptions(recipients, faults)],
    ["TOUCHPOINT_RECIPIENTS", fromEnvironment(environment.TOUCHPOINT_RECIPIENTS, faults)],
  ];
  return {
    isAlwaysDry: dryRunVariable === "1" || dryRunVariable === "true",
    isDry: dryRun === true,
    check: (operation, body, isNew) => {
      const addresses = recipientsIn(body);
      for (const [name, covers] of rules) {
        if (covers === undefined) continue;
        const isCovered = addresses.every((one) => {
          const address = addressIn(one);
          return address !== undefined && covers(address);
        });
        // Refuse a new email without a recipient, because it could go to anyone.
        if (isCovered && (addresses.length > 0 || !isNew)) continue;
        log.warn("recipient refused", { operation, by: name });
        const message = `${operation}: ${name} does not cover the recipient. Nothing was sent.`;
        throw new RecipientRefusedError(message, { operation });
      }
    },
  };
};
