import type { Limits } from "../index.ts";
import { type CliCommand, exitCode, isSet } from "./command.ts";
import { connect, connectionOptions, limitsOf } from "./connect.ts";
import { aboutLimits } from "./doctor-probes.ts";
import { duration } from "./progress-bar.ts";

const lineOf = ([name, limit]: readonly [name: string, limit: Limits[keyof Limits]]): string => {
  const [max, perMs] = typeof limit === "number" ? [limit, 86_400_000] : [limit.max, limit.perMs];
  return `${name.padEnd(14)}  ${max.toLocaleString("en-US").padStart(9)} in ${duration(perMs)}\n`;
};

/** `touchpoint budgets`. */
export const budgets: CliCommand = {
  shape: {
    name: "budgets",
    about:
      "Shows the limits that the commands keep, and the rate limit headers of the service.\n" +
      "It sends one GET request. It does not know what other processes use.",
    operands: [],
    options: { ...connectionOptions, json: { type: "boolean", about: "one line of JSON" } },
  },
  run: async (request) => {
    const limits = await limitsOf(request);
    const { documentedLimits } = await import("../sandbox/index.ts");
    const kept: Readonly<Record<string, Limits[keyof Limits]>> =
      limits === false ? {} : (limits ?? documentedLimits);
    await using client = await connect(request, {});
    const { response } = await client.contacts
      .list({ limit: 1 }, { signal: request.interrupt })
      .withResponse();
    const headers = aboutLimits(response.headers);
    if (isSet(request, "json")) {
      request.stdout.write(`${JSON.stringify({ limits: kept, headers })}\n`);
      return exitCode.ok;
    }
    const lines = Object.entries(kept).map(lineOf);
    request.stdout.write(lines.length > 0 ? lines.join("") : "no limits\n");
    const told = Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`);
    request.stdout.write(
      told.length > 0 ? `The service says:\n${told.join("")}` : "The service says nothing of its limits.\n",
    );
    return exitCode.ok;
  },
  afterInterrupt: () => "Nothing was changed.",
};
