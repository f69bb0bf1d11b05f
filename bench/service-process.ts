import { type ChildProcess, fork } from "node:child_process";
import type { SandboxOptions } from "touchpoint-sdk/sandbox";

/** A sandbox in another process, so that the benchmark measures only the client. */
export interface ServiceProcess {
  readonly url: string;
  /** Returns what the service has counted so far. */
  report(): Promise<{
    readonly counts: { readonly requests: number; readonly byStatus: Record<string, number> };
    readonly events: number;
    readonly emails: number;
  }>;
  stop(): void;
}

const message = <T>(child: ChildProcess): Promise<T> =>
  new Promise((resolve) => child.once("message", resolve as (value: unknown) => void));

/** Starts a sandbox in another process. `options` must be plain JSON. */
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

/** Prints one row of a table. */
export const row = (...cells: readonly (string | number)[]): void => {
  console.log(
    cells.map((cell, at) => (at === 0 ? String(cell).padEnd(44) : String(cell).padStart(12))).join(""),
  );
};
