import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { IngestReport } from "touchpoint-sdk";

/** A message from one of the demo's processes to the one that started it. */
export type Message =
  | {
      readonly kind: "exported";
      readonly records: number;
      readonly bytes: number;
      readonly elapsedMs: number;
    }
  | { readonly kind: "sent"; readonly code: string | undefined; readonly outcome: string | undefined }
  | { readonly kind: "progress"; readonly done: number }
  | { readonly kind: "rejected"; readonly index: number; readonly error: string }
  | { readonly kind: "unreadable"; readonly line: number }
  | { readonly kind: "ingested"; readonly report: IngestReport };

/** Sends a message to the parent process. Once the promise resolves, the message arrives even if this process is killed. */
export const report = (message: Message): Promise<void> =>
  new Promise((resolve, reject) => {
    process.send?.(message, (error: Error | null) => (error === null ? resolve() : reject(error)));
  });

/** A running program of this folder. */
export interface Child {
  kill(signal: NodeJS.Signals): void;
  /** The exit code, or the signal that killed the process. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

/** Starts a program of this folder in its own process, with the terminal of this one. */
export const start = (
  program: string,
  { args, env, onMessage }: ChildSettings & { readonly onMessage: (message: Message) => void },
): Child => {
  const child = fork(fileURLToPath(new URL(program, import.meta.url)), args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  // Only `report` sends messages.
  child.on("message", (message) => onMessage(message as Message));
  return {
    kill: (signal) => child.kill(signal),
    ended: new Promise((resolve) => {
      // The last messages may arrive after "exit", but always before "close".
      child.once("close", (code, signal) => resolve(code ?? signal));
    }),
  };
};

export interface ChildSettings {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}
