import type { Writable } from "node:stream";
import { ConfigurationError } from "../errors.ts";

/**
 * Writes a block and waits until the stream has passed it on, so that never more than one is in memory.
 *
 * A stream that is closed meanwhile may never call back, hence the listener.
 */
export const writeToStream = (stream: Writable, block: Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    const settle = (error: Error | null | undefined): void => {
      stream.off("close", onClose);
      if (error) reject(error);
      else resolve();
    };
    const onClose = (): void => {
      settle(stream.errored ?? new ConfigurationError("the stream was closed before everything was written"));
    };
    stream.once("close", onClose);
    if (stream.destroyed) onClose();
    else stream.write(block, settle);
  });
