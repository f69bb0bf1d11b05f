import { type ChildProcess, fork } from "node:child_process";
import type { SandboxOptions } from "touchpoint-sdk/sandbox";

/** A sandbox in a process of its own, so that only the client is measured. */
export interface ServiceProcess {
  readonly url: string;
  /** What the service saw so far. */
  report(): Promise<{
    readonly counts: { readonly requests: number; readonly byStatus: Record<string, number> };
    readonly events: number;
    readonly emails: number;
  }>;
  stop(): void;
}

const message = <T>(child: ChildProcess): Promise<T> =>
  new Promise((resolve) => child.once("message", resolve as (value: unknown) => void));

/** Starts one. `options` must be plain JSON. */
export const startService = async (contacts: number, options: SandboxOptions): Promise<ServiceProcess> => {
  const file = new URL("sandbox-server.ts", import.meta.url);
  const child = fork(file, [JSON.stringify({ contacts, options })], { execArgv: ["--import", "tsx"] });
  const { url } = await message<{ url: string }>(child);
  return {
    url,
    report: () => {
      child.send("report");
      return message(child);
    },
    stop: () => child.disconnect(),
  };
};

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

/** One row of a table on the terminal. */
export const row = (...cells: readonly (string | number)[]): void => {
  console.log(
    cells.map((cell, at) => (at === 0 ? String(cell).padEnd(44) : String(cell).padStart(12))).join(""),
  );
};
