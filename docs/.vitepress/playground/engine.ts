// The client and the sandbox in a worker of the page, loaded with the first click.
import { Client, isTouchpointError } from "../../../src/index.ts";
import { createSandbox } from "../../../src/sandbox/index.ts";
import type { Preset } from "./presets.ts";
import { installGlobals } from "./shims/buffer.ts";

/** A call as the program saw it. */
export interface Belief {
  readonly operation: string;
  result: string;
  /** Attempts and waits, while it runs and afterwards. */
  detail: string;
  state: "running" | "done" | "failed" | "unknown";
}

/** How much of a limit the client counts as used. */
export interface Budget {
  readonly used: number;
  readonly remaining: number;
  /** Whether the service has refused a call, and the wait is not over. */
  readonly isPaused: boolean;
}

/** A request as the service saw it. */
export interface Deed {
  readonly request: string;
  readonly result: string;
  readonly isLost: boolean;
}

/** What both sides know. */
export interface View {
  readonly beliefs: readonly Belief[];
  readonly deeds: readonly Deed[];
  /** What the program printed. */
  readonly printed: readonly string[];
  /** What the service holds. */
  readonly holds: string;
  readonly budget: Budget | undefined;
}

interface Answered {
  readonly data: unknown;
  readonly response: { readonly attempts: number; readonly waitedMs: number };
}
interface Call {
  withResponse(): Promise<Answered>;
  [Symbol.asyncIterator]?(): AsyncIterator<unknown>;
}

const methods: Readonly<Record<string, readonly string[]>> = {
  contacts: ["create", "find", "list", "update", "upsert"],
  companies: ["create", "findByDomain", "update"],
  lists: ["addContacts", "create", "removeContacts"],
  events: ["record", "recordBatch"],
  emails: ["schedule", "send"],
};

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/** A workspace of its own in memory, with a client; what a visitor runs twice goes to the same one. */
export const openLab = (preset: Preset, show: (view: View) => void) => {
  installGlobals();
  const sandbox = createSandbox({ apiKeys: ["key"], seed: 1 });
  if (preset.contacts !== undefined) sandbox.seedContacts(preset.contacts);
  const beliefs: Belief[] = [];
  const printed: string[] = [];
  let running: Belief | undefined;

  const refresh = (): void => {
    const { requests, emails, events, contacts } = sandbox.state;
    const deeds = requests.map(({ method, path, status, applied, fault }) => ({
      request: `${method} ${path.replace("/api/v1", "")}`,
      result: `${applied ? "done" : "not done"}, ${status === undefined ? "response lost" : status}`,
      isLost: fault !== undefined,
    }));
    const count = (n: number, word: string): string => `${n} ${word}${n === 1 ? "" : "s"}`;
    const holds = [
      count(emails.length, "email"),
      count(events.length, "event"),
      count(contacts.length, "contact"),
    ];
    show({ beliefs: [...beliefs], deeds, printed: [...printed], holds: holds.join(", "), budget: budget() });
  };

  const budget = (): Budget | undefined => {
    if (preset.budget === undefined) return undefined;
    const { used, remaining, pausedUntil } = client.budgets()[preset.budget];
    return { used, remaining, isPaused: pausedUntil !== undefined && pausedUntil > Date.now() };
  };
  const client = new Client({
    apiKey: "key",
    baseUrl: "http://localhost",
    fetch: sandbox.fetch,
    dangerouslyAllowBrowser: true,
    hooks: {
      onWait: ({ waitingFor }) => tell(`waits for ${waitingFor}`),
      onRetry: ({ attempt, waitMs }) => tell(`attempt ${attempt} failed, again in ${seconds(waitMs)}`),
    },
  });
  const tell = (detail: string): void => {
    if (running === undefined) return;
    running.detail = detail;
    refresh();
  };

  const begin = (operation: string): Belief => {
    const belief: Belief = { operation, result: "…", detail: "", state: "running" };
    beliefs.push(belief);
    running = belief;
    refresh();
    return belief;
  };
  const end = (belief: Belief, state: Belief["state"], [result, detail]: readonly [string, string]): void => {
    Object.assign(belief, { state, result, detail });
    running = undefined;
    refresh();
  };
  const fail = (belief: Belief, error: unknown): void => {
    if (!isTouchpointError(error)) return end(belief, "failed", [String(error), ""]);
    const tries = `${error.attempts} attempt${error.attempts === 1 ? "" : "s"}`;
    end(belief, error.outcome === "unknown" ? "unknown" : "failed", [
      `${error.code}, outcome "${error.outcome}"`,
      tries,
    ]);
  };

  const follow = (operation: string, call: Promise<Answered>): void => {
    const belief = begin(operation);
    call.then(
      ({ response: { attempts, waitedMs } }) => {
        const waits = waitedMs >= 50 ? `, waited ${seconds(waitedMs)}` : "";
        const tries = attempts === 0 ? "nothing sent" : `${attempts} attempt${attempts === 1 ? "" : "s"}`;
        end(belief, "done", ["ok", tries + waits]);
      },
      (error: unknown) => fail(belief, error),
    );
  };
  /** Tells of a call what its promise says. A list is only asked for when it is awaited or iterated. */
  const watched = (operation: string, call: Call): unknown => {
    const iterate = call[Symbol.asyncIterator];
    if (iterate === undefined) {
      follow(operation, call.withResponse());
      return call;
    }
    const page = (): Promise<unknown> => {
      const answered = call.withResponse();
      follow(operation, answered);
      return answered.then(({ data }) => data);
    };
    return {
      then: (done: (value: unknown) => unknown, failed: (error: unknown) => unknown) =>
        page().then(done, failed),
      [Symbol.asyncIterator]: () => counted(operation, iterate.call(call)),
    };
  };
  async function* counted(operation: string, source: AsyncIterator<unknown>): AsyncGenerator<unknown> {
    const belief = begin(`${operation}, iterated`);
    let count = 0;
    try {
      for (let next = await source.next(); next.done !== true; next = await source.next()) {
        count += 1;
        yield next.value;
      }
      end(belief, "done", ["ok", `${count} records`]);
    } catch (error) {
      fail(belief, error);
      throw error;
    }
  }

  for (const [group, names] of Object.entries(methods)) {
    const resource: Record<string, (...given: unknown[]) => Call> = Reflect.get(client, group);
    for (const name of names) {
      const method = resource[name]?.bind(resource);
      if (method !== undefined)
        Object.assign(resource, {
          [name]: (...given: unknown[]) => watched(`${group}.${name}`, method(...given)),
        });
    }
  }

  const log = (...words: readonly unknown[]): void => {
    printed.push(words.join(" "));
    refresh();
  };
  refresh();
  return {
    lose: () => sandbox.fail({ operation: preset.loses, with: "reset-after-apply" }),
    run: async (code: string): Promise<void> => {
      try {
        // The visitor's own program, in a worker of the visitor's own page.
        const AsyncFunction = (async () => undefined).constructor as FunctionConstructor;
        await new AsyncFunction("client", "sandbox", "console", code)(client, sandbox, { ...console, log });
      } catch (error) {
        // An error of the client is a row already.
        if (!isTouchpointError(error))
          log(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
      }
      refresh();
    },
  };
};
