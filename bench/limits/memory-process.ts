import { fork } from "node:child_process";

interface Measured {
  readonly options: string;
  readonly bytes: number;
  readonly closeMs: number;
}

/** Measures the memory of 100,000 calls that wait for a limit, and how long `close()` takes. Needs a build. */
export const memoryOfWaiting = async (): Promise<void> => {
  const child = fork(new URL("memory.mjs", import.meta.url), { execArgv: [] });
  const rows = await new Promise<readonly Measured[]>((resolve, reject) => {
    // memory.mjs sends one such message.
    child.once("message", (message) => resolve(message as readonly Measured[]));
    child.once("exit", () => reject(new Error("memory.mjs failed: is there a build?")));
  });
  for (const { options, bytes, closeMs } of rows)
    console.log(
      `100,000 waiting calls${options && `, ${options}`}: ${(bytes / 1_000).toFixed(2)} KB each, close() ${(closeMs / 1_000).toFixed(2)} s`,
    );
};
