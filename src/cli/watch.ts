import type { Client, Hooks } from "../index.ts";
import type { Request } from "./cli-command.ts";
import { connect } from "./connect.ts";
import { type ProgressBar, progressBar } from "./progress-bar.ts";

/** A client whose waits and retries can be seen. */
export interface Watched {
  readonly client: Client;
  readonly bar: ProgressBar;
  /** The limit that requests wait for now. */
  waitingFor(): string | undefined;
  /** Leaves the bar standing and frees the sockets. */
  close(): Promise<void>;
}

/** Opens a client for a command that takes long. */
export const watch = async (request: Request): Promise<Watched> => {
  const { stderr, now } = request;
  const bar = progressBar(stderr, now);
  let wait = { limit: "", until: Number.NEGATIVE_INFINITY };
  const hooks: Hooks = {
    onWait: ({ waitingFor, waitMs, reason }) => {
      if (reason !== "concurrency") wait = { limit: waitingFor, until: now() + waitMs };
    },
    onRetry: ({ operation, status, attempt }) =>
      bar.print(`${operation}: ${status ?? "no answer"} at attempt ${attempt}, trying again`),
  };
  const client = await connect(request, { hooks });
  return {
    client,
    bar,
    waitingFor: () => (now() < wait.until ? wait.limit : undefined),
    close: async () => {
      bar.end();
      await client.close();
    },
  };
};
