// The routes of a sign-up service: one bound over a whole handler, 429 and 202 where a limit is used up.
import Fastify, { type FastifyBaseLogger, type FastifyInstance } from "fastify";
import { type Client, isTouchpointError, RateLimitError } from "touchpoint-sdk";
import type { WelcomeJobs } from "./jobs.ts";

export interface SignupOptions {
  readonly client: Client;
  readonly jobs: WelcomeJobs;
  /** The list that everyone who signs up is added to. */
  readonly listId: string;
  /** The time of a whole handler, in milliseconds. */
  readonly handlerMs?: number;
  readonly logger?: FastifyBaseLogger;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

interface Signup {
  readonly email: string;
  readonly name?: string;
}

const signupSchema = {
  type: "object",
  required: ["email"],
  properties: { email: { type: "string" }, name: { type: "string" } },
};

const retryAfter = (error: RateLimitError): string =>
  String(Math.max(1, Math.ceil((error.retryAfterMs ?? 0) / 1_000)));

/** Creates the service. It listens nowhere yet. */
export const signupService = (options: SignupOptions): FastifyInstance => {
  const { client, jobs, listId, handlerMs = 1_500, now = Date.now } = options;
  const app: FastifyInstance = Fastify({ ...(options.logger && { loggerInstance: options.logger }) });

  app.post<{ Body: Signup }>("/signups", { schema: { body: signupSchema } }, async (request, reply) => {
    const endsAt = now() + handlerMs;
    // What is left of the handler's time bounds the waits of each call, and the call.
    const left = () => {
      const leftMs = Math.max(1, endsAt - now());
      return { maxWaitMs: leftMs, totalTimeoutMs: leftMs };
    };
    const { email, name } = request.body;
    const { contact, created } = await client.contacts.upsert({ email, ...(name && { name }) }, left());
    await client.lists.addContacts(listId, [email], left());
    const event = { id: `signed-up:${contact.id}`, name: "signed.up", contact: { id: contact.id } };
    await client.events.record(event, left());
    // On disk before the response: a welcome is sent once, whatever happens to this process.
    const welcome = await jobs.add({ contactId: contact.id, to: email });
    return reply.code(welcome === "sent" ? 201 : 202).send({ id: contact.id, created, welcome });
  });

  app.get("/health", async () => ({ limits: client.budgets(), emailsDue: jobs.due }));

  app.setErrorHandler((error, request, reply) => {
    if (error instanceof RateLimitError)
      return reply.code(429).header("retry-after", retryAfter(error)).send({ limit: error.limit });
    if (!isTouchpointError(error)) return reply.send(error);
    request.log.error(
      { code: error.code, outcome: error.outcome, operation: error.operation },
      "call failed",
    );
    return reply.code(error.code === "input_invalid" ? 400 : 502).send({ code: error.code });
  });

  return app;
};
