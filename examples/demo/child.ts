import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { IngestReport } from "touchpoint-sdk";

/** What the demo's processes tell the one that started them. */
export type Message =
  | {
      readonly kind: "exported";
      readonly records: number;
      readonly bytes: number;
      readonly elapsedMs: number;
    }
  | { readonly kind: "progress"; readonly done: number }
  | { readonly kind: "rejected"; readonly index: number; readonly error: string }
  | { readonly kind: "unreadable"; readonly line: number }
  | { readonly kind: "ingested"; readonly report: IngestReport };

/** Tells the process that started this one; resolved, it will arrive although this one may be killed. */
export const tell = (message: Message): Promise<void> =>
  new Promise((resolve, reject) => {
    process.send?.(message, (error: Error | null) => (error === null ? resolve() : reject(error)));
  });

/** A program of this folder, running. */
export interface Child {
  kill(signal: NodeJS.Signals): void;
  /** How it ended: an exit code, or the signal that killed it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

/** Starts a program of this folder in a process of its own, with this one's terminal. */
export const start = (
  program: string,
  { args, env, onMessage }: ChildSettings & { readonly onMessage: (message: Message) => void },
): Child => {
  const child = fork(fileURLToPath(new URL(program, import.meta.url)), args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  // Only `tell` sends anything.
  child.on("message", (message) => onMessage(message as Message));
  return {
    kill: (signal) => child.kill(signal),
    ended: new Promise((resolve) => {
      // Not "exit": what the process told before it ended may still be on its way then.
      child.once("close", (code, signal) => resolve(code ?? signal));
    }),
  };
};

export interface ChildSettings {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}
