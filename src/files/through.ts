import type { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";

/**
 * Runs bytes through a transform such as gunzip, one chunk at a time.
 *
 * Ending the iteration early waits until the source is closed too; a source that fails rejects with its own error.
 */
export async function* through(
  source: AsyncIterable<Uint8Array | string>,
  transform: Transform,
): AsyncGenerator<Uint8Array> {
  const ended = pipeline(source, transform).catch(() => {
    // The transform is destroyed with the same error, so the loop below throws it.
  });
  try {
    yield* transform;
  } finally {
    // Leaving the loop has destroyed the transform and thereby ends the pipeline, but not at once.
    await ended;
  }
}
