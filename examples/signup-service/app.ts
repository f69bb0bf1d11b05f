// The routes of a sign-up service. One deadline covers all calls of a handler. If a limit is used up, the response is 429 or 202.
import Fastify, { type FastifyBaseLogger, type FastifyInstance } from "fastify";
import { type Client, isTouchpointError, RateLimitError } from "touchpoint-sdk";
import type { WelcomeJobs } from "./jobs.ts";

export interface SignupOptions {
  readonly client: Client;
  readonly jobs: WelcomeJobs;
  /** The list that everyone who signs up is added to. */
  readonly listId: string;
  /** How long a handler may take, in milliseconds. */
  readonly handlerMs?: number;
  /** How many sign-ups run at a time. Further sign-ups get a 429. */
  readonly maxRunning?: number;
  readonly logger?: FastifyBaseLogger;
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

/** Creates the service. Call `listen` to start it. */
export const signupService = (options: SignupOptions): FastifyInstance => {
  const { client, jobs, listId, handlerMs = 1_500, maxRunning = 5 } = options;
  const app: FastifyInstance = Fastify({ ...(options.logger && { loggerInstance: options.logger }) });

  const signUp = async ({ email, name }: Signup) => {
    const deadline = new Date(Date.now() + handlerMs);
    const bound = client.withOptions({ deadline });
    const { contact, created } = await bound.contacts.upsert({ email, ...(name && { name }) });
    await bound.lists.addContacts(listId, [email]);
    const event = { id: `signed-up:${contact.id}`, name: "signed.up", contact: { id: contact.id } };
    await bound.events.record(event);
    // The job is on disk before the response, so the welcome is sent once even if this process is killed.
    const welcome = await jobs.add(
      { contactId: contact.id, to: email },
      Math.max(1, deadline.getTime() - Date.now()),
    );
    return { id: contact.id, created, welcome };
  };

  let running = 0;
  app.post<{ Body: Signup }>("/signups", { schema: { body: signupSchema } }, async (request, reply) => {
    // Too many at once would share the request limit, and none could make its four calls in time.
    if (running >= maxRunning) return reply.code(429).header("retry-after", "1").send({ limit: "signups" });
    running += 1;
    try {
      const signedUp = await signUp(request.body);
      return reply.code(signedUp.welcome === "sent" ? 201 : 202).send(signedUp);
    } finally {
      running -= 1;
    }
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
    // The deadline passed before the request was sent. The call had no effect, and a later try may succeed.
    if (error.code === "timeout" && error.outcome === "not-applied")
      return reply.code(503).header("retry-after", "1").send({ code: error.code });
    return reply.code(error.code === "input_invalid" ? 400 : 502).send({ code: error.code });
  });

  return app;
};
