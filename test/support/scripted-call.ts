import { CallScope } from "../../src/call/scope.ts";
import { isTouchpointError } from "../../src/errors.ts";
import { Redactor } from "../../src/http/auth.ts";
import { RetryQuota } from "../../src/http/retry.ts";
import type { CallOptions, ClientOptions } from "../../src/options/options.ts";
import { settingsFrom } from "../../src/options/options.ts";
import { Lifetime } from "../../src/runtime/cancellation.ts";
import type { Clock } from "../../src/runtime/clock.ts";
import type { OperationFacts } from "../../src/service/define.ts";

/** Returns the response body for an operation's payload. */
export type Answering = (
  operation: OperationFacts,
  payload: unknown,
  options: CallOptions | undefined,
) => Promise<unknown>;

/** The scope of a client without its pipeline, to test the code above it alone. `attempts` is reported for each request. */
export const scriptedCall = (
  clock: Clock,
  answering: Answering,
  { attempts = 1, logger }: Pick<ClientOptions, "logger"> & { readonly attempts?: number } = {},
): CallScope =>
  CallScope.of({
    clock,
    settings: settingsFrom(
      { apiKey: () => "key", baseUrl: "https://service.test", ...(logger && { logger }) },
      {},
    ),
    lifetime: new Lifetime(),
    redactor: new Redactor(),
    quota: new RetryQuota(),
    // The longest back-off.
    random: () => 1,
    send: () => Promise.reject(new Error("a scripted call sends nothing")),
    perform: async (parent, { operation, input, options }) => {
      const response = { status: 200, headers: new Headers(), attempts, waitedMs: 0 };
      try {
        parent.signal?.throwIfAborted();
        const body = await answering(operation, input.payload, options);
        if (operation.replay !== "safe" && (attempts > 1 || input.hasEffect?.(body) !== false))
          parent.noteEffect();
        // A test returns the operation's shape, or another one on purpose.
        return { data: body as never, response };
      } catch (error) {
        if (isTouchpointError(error) && error.outcome === "unknown") parent.noteEffect();
        throw parent.fail(error);
      }
    },
  });
