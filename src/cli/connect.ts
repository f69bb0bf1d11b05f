import { Client, type ClientOptions, ConfigurationError, type Hooks, type Limits } from "../index.ts";
import type { Options } from "./args.ts";
import { type Request, textOf, UsageError } from "./command.ts";
import { type Measured, Pace, type ProgressBar, progressBar } from "./progress-bar.ts";

/** The option that sets the limits, of a sandbox and of commands that call it. */
export const limitsOption: Options = {
  "--limits <n>": "a multiple of the documented limits, such as 100 or 0.5; off for none",
};

/**
 * The limits to keep: undefined for the documented ones, false for none.
 *
 * @throws UsageError for anything but a number above 0 or `off`.
 */
export const limitsOf = async (
  request: Pick<Request, "values">,
): Promise<Partial<Limits> | false | undefined> => {
  const text = textOf(request, "limits");
  if (text === undefined) return undefined;
  if (text === "off") return false;
  const times = Number(text);
  if (!(/^\d+(\.\d+)?$/.test(text) && times > 0))
    throw new UsageError(`--limits must be a number above 0, or off, got "${text}"`);
  const { documentedLimits } = await import("../sandbox/index.ts");
  const more = ({ max, windowMs }: { readonly max: number; readonly windowMs: number }) => ({
    max: Math.max(1, Math.floor(max * times)),
    windowMs,
  });
  const { requests, requestsPerDay, emails, emailsPerDay, events, eventsPerDay } = documentedLimits;
  return {
    requests: more(requests),
    requestsPerDay: more(requestsPerDay).max,
    emails: more(emails),
    emailsPerDay: more(emailsPerDay).max,
    events: more(events),
    eventsPerDay: more(eventsPerDay).max,
  };
};

/** The options of every command that calls the service. */
export const connectionOptions: Options = {
  ...limitsOption,
  "--proxy <url>":
    "the URL of an HTTP proxy; env reads HTTPS_PROXY and NO_PROXY, so that a password stays out of the arguments",
};

/**
 * Creates the client. The key comes from the environment only, because process lists show arguments.
 *
 * @throws UsageError when an option is missing or wrong.
 */
export const connect = async (
  request: Pick<Request, "values">,
  options: Pick<ClientOptions, "hooks" | "baseUrl">,
): Promise<Client> => {
  const limits = await limitsOf(request);
  const proxy = textOf(request, "proxy");
  try {
    return new Client({
      ...options,
      ...(limits === undefined ? {} : { limits }),
      ...(proxy === undefined ? {} : { proxy }),
    });
  } catch (error) {
    if (error instanceof ConfigurationError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
};

/** A client whose progress, waits and retries are shown. */
export interface Watched {
  readonly client: Client;
  readonly bar: ProgressBar;
  /** Shows the progress. */
  show(progress: Measured): void;
  /** Ends the progress bar and closes the client. */
  close(): Promise<void>;
}

/** Creates a client for a long command. */
export const watch = async (request: Request): Promise<Watched> => {
  const { screen, now } = request;
  const bar = progressBar(screen, now);
  let wait = { limit: "", until: Number.NEGATIVE_INFINITY };
  const hooks: Hooks = {
    onWait: ({ waitingFor, waitMs, reason }) => {
      if (reason !== "concurrency") wait = { limit: waitingFor, until: now() + waitMs };
    },
    onRetry: ({ operation, status, attempt }) =>
      bar.print(`${operation}: ${status ?? "no response"} at attempt ${attempt}, trying again`),
  };
  const client = await connect(request, { hooks });
  const pace = new Pace(now);
  return {
    client,
    bar,
    show: (progress) => bar.update(pace.shown(progress, wait)),
    close: async () => {
      bar.end();
      await client.close();
    },
  };
};
