// Welcome emails that are due: on disk first, then sent under a key. A job that is run twice sends once.
import { appendFile, readFile } from "node:fs/promises";
import {
  type CallOptions,
  type Client,
  isTouchpointError,
  RateLimitError,
  SendOnceError,
} from "touchpoint-sdk";

export interface Welcome {
  readonly contactId: string;
  readonly to: string;
}

/** The welcome emails of this service. */
export interface WelcomeJobs {
  /** How many wait for the email limit. */
  readonly due: number;
  /** Stores the job, and sends at once if the email limit allows it. It is `due` if that takes longer than `waitMs`. */
  add(welcome: Welcome, waitMs: number): Promise<"sent" | "due" | "unknown">;
  /** Sends what an earlier process left, and what waits. Resolves when nothing is due, or after `stop`. */
  run(): Promise<void>;
  /** Begins no further email: a closed client would open again for it. The next process sends them. */
  stop(): void;
}

/** @param file - the jobs, a line each; `client` needs a ledger that outlives the process. */
export const welcomeJobs = (file: string, client: Client): WelcomeJobs => {
  const due = new Map<string, Welcome>();
  let running: Promise<void> | undefined;
  let isStopped = false;

  const send = async (welcome: Welcome, bounds: CallOptions): Promise<"sent" | "due" | "unknown"> => {
    const email = { to: welcome.to, subject: "Welcome", text: "Good to have you." };
    try {
      await client.emails.send(email, { ...bounds, once: `welcome:${welcome.contactId}` });
      due.delete(welcome.contactId);
      return "sent";
    } catch (error) {
      const isBeingSent = error instanceof SendOnceError && error.code === "once_pending";
      if (error instanceof RateLimitError || isBeingSent) return "due";
      // A person settles the key; a refusal (do-not-email, a refused stage) is not tried again either.
      due.delete(welcome.contactId);
      if (isTouchpointError(error) && error.outcome === "unknown") return "unknown";
      throw error;
    }
  };

  const drain = async (): Promise<void> => {
    const text = await readFile(file, "utf8").catch(() => "");
    for (const line of text.split("\n").filter((part) => part !== "")) {
      const welcome: Welcome = JSON.parse(line);
      due.set(welcome.contactId, welcome);
    }
    // Keys that were sent return their receipt, and send nothing.
    for (const welcome of due.values()) {
      if (isStopped) return;
      await send(welcome, {}).catch(() => undefined);
    }
  };

  return {
    get due() {
      return due.size;
    },
    add: async (welcome, waitMs) => {
      // Being sent, or waiting for the limit: no handler waits with it.
      if (due.has(welcome.contactId)) return "due";
      due.set(welcome.contactId, welcome);
      await appendFile(file, `${JSON.stringify(welcome)}\n`);
      // An email that is on its way is not called back: the visitor stops waiting, and the job sees it through.
      const late = new Promise<"due">((resolve) => setTimeout(resolve, waitMs, "due").unref());
      return Promise.race([send(welcome, { maxWaitMs: 1 }), late]);
    },
    run: () => {
      running ??= drain().finally(() => {
        running = undefined;
      });
      return running;
    },
    stop: () => {
      isStopped = true;
    },
  };
};
