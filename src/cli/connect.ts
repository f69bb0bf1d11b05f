import { Client, type ClientOptions, type Hooks, type Limits } from "../index.ts";
import type { Options } from "./args.ts";
import { asUsage, type ExitCode, exitCode, type Request, UsageError } from "./command.ts";
import { createPace, type LimitWait, type Measured, progressBar } from "./progress-bar.ts";

/** The option that sets the rate limits, both of a sandbox and of the commands that call a service. */
export const limitsOption: Options = {
  "--limits <n>": "multiply the documented rate limits by n: 0.5 halves them; off removes them",
};

/**
 * The rate limits from `--limits`: undefined for the documented limits, false for no limits.
 *
 * @throws UsageError for anything but a number above 0 or `off`.
 */
export const limitsOf = async (
  request: Pick<Request, "values">,
): Promise<Partial<Limits> | false | undefined> => {
  const text = request.values.limits;
  if (text === undefined) return undefined;
  if (text === "off") return false;
  const times = Number(text);
  if (!(/^\d+(\.\d+)?$/.test(text) && times > 0))
    throw new UsageError(`--limits must be a number above 0, or off, got "${text}"`);
  const { documentedLimits } = await import("../sandbox/index.ts");
  const scaled = Object.entries(documentedLimits).map(([name, { max, windowMs }]) => {
    const scaledMax = Math.max(1, Math.floor(max * times));
    return [name, name.endsWith("PerDay") ? scaledMax : { max: scaledMax, windowMs }];
  });
  return Object.fromEntries(scaled);
};

/** The options of every command that calls the service. */
export const connectionOptions: Options = {
  ...limitsOption,
  "--proxy <url>":
    "the URL of an HTTP proxy, or the word env to use HTTPS_PROXY and NO_PROXY. With env, the arguments contain no password",
};

/**
 * Creates the client. The key comes from the environment only, because process lists show arguments.
 *
 * @throws UsageError when an option is missing or wrong.
 */
export const connect = async (
  request: Pick<Request, "values">,
  clientOptions: Pick<ClientOptions, "apiKey" | "baseUrl" | "hooks" | "unknownFields"> = {},
): Promise<Client> => {
  const limits = await limitsOf(request);
  const { proxy } = request.values;
  return asUsage(() => new Client({ ...clientOptions, limits, proxy }));
};

/**
 * Creates a client for a long command, and a bar that shows the progress, each wait for a limit and each retry.
 * Disposing of the result ends the bar and closes the client.
 */
export const watch = async (request: Request, clientOptions: Pick<ClientOptions, "unknownFields"> = {}) => {
  const { screen, now } = request;
  const bar = progressBar(screen, now);
  let wait: LimitWait = { limit: "", until: Number.NEGATIVE_INFINITY };
  /** Messages about lists that had fewer records than the service's own count. */
  const shortfalls = new Set<string>();
  const hooks: Hooks = {
    onWait: ({ waitingFor, waitMs, reason }) => {
      if (reason !== "concurrency") wait = { limit: waitingFor, until: now() + waitMs };
    },
    onRetry: ({ operation, status, attempt }) =>
      bar.print(`${operation}: ${status ?? "no response"} at attempt ${attempt}, retrying`),
    onValidationIssue: ({ issues }) => {
      for (const { message } of issues)
        if (message.startsWith("the service did not return ")) shortfalls.add(message);
    },
  };
  const client = await connect(request, { ...clientOptions, hooks });
  const pace = createPace(now);
  return {
    client,
    bar,
    /** Prints which lists were too short. Returns the exit code of a command that has otherwise succeeded. */
    exitCode: (): ExitCode => {
      for (const message of shortfalls) bar.print(message);
      return shortfalls.size > 0 ? exitCode.someRejected : exitCode.ok;
    },
    show: (progress: Measured) => bar.update(pace(progress, wait)),
    [Symbol.asyncDispose]: async () => {
      bar.end();
      await client.close();
    },
  };
};

export type Watched = Awaited<ReturnType<typeof watch>>;
