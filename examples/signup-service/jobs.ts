// Stores welcome emails on disk, then sends each under its own key, so that a job that runs twice sends one email.
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
  /** How many emails are stored and not sent yet. */
  readonly due: number;
  /** Stores the job, and sends it at once if the email limit allows it. Returns `due` if that takes longer than `waitMs`. */
  add(welcome: Welcome, waitMs: number): Promise<"sent" | "due" | "unknown">;
  /** Sends the emails that are due, including those of an earlier process. Resolves after one try of each, or after `stop`. */
  run(): Promise<void>;
  /** Starts no further email, because a call would reopen a closed client. The next process sends the rest. */
  stop(): void;
}

/** @param file - stores one job per line. `client` needs a ledger that survives the process. */
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
      // The job is over. A refusal (do-not-email, a refused stage) is final, and a person settles an unknown key.
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
    // If the email of a key was already sent, the call returns its receipt and sends nothing.
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
      // The email is being sent or waits for the limit. The handler does not wait for it.
      if (due.has(welcome.contactId)) return "due";
      due.set(welcome.contactId, welcome);
      await appendFile(file, `${JSON.stringify(welcome)}\n`);
      // After `waitMs`, the visitor gets a response. The email is not aborted: the job continues to send it.
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
