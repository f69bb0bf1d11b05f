import type { Call } from "../../src/call/call.ts";
import { isTouchpointError } from "../../src/errors.ts";
import type { Send, Sending } from "../../src/http/types.ts";
import type { ClientOptions } from "../../src/options/options.ts";
import type { Clock } from "../../src/runtime/clock.ts";
import { parsedJson } from "../../src/runtime/values.ts";
import type { OperationFacts } from "../../src/service/define.ts";
import { anAnswer, clientCall } from "./sending.ts";

/** Returns the response body for the payload of an operation: the body of its request, or its query. */
export type Answering = (
  operation: OperationFacts,
  payload: unknown,
  call: Sending["call"],
) => Promise<unknown>;

/** The call of a client without its stages, to test the code above them alone. `attempts` is reported for each request. */
export const scriptedCall = (
  clock: Clock,
  answering: Answering,
  { attempts = 1, logger }: Pick<ClientOptions, "logger"> & { readonly attempts?: number } = {},
): Call => {
  const send: Send = async ({ operation, plan, call }, { path, body }) => {
    try {
      const { searchParams } = new URL(path, "https://service.test");
      const query = Object.fromEntries(
        [...searchParams].map(([name, text]) => [name, parsedJson(text) ?? text]),
      );
      const payload = body === undefined ? query : parsedJson(body);
      const response = anAnswer(200, await answering(operation, payload, call));
      for (let attempt = 1; attempt <= attempts; attempt += 1) call.attempted(response);
      return response;
    } catch (error) {
      if (plan.replay !== "safe" && isTouchpointError(error) && error.outcome === "unknown")
        call.noteEffect();
      throw error;
    }
  };
  return clientCall(clock, send, {
    apiKey: () => "key",
    responseValidation: "off",
    ...(logger && { logger }),
  });
};
