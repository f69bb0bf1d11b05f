import { Client } from "../../src/client.ts";
import { createSandbox, type Sandbox } from "../../src/sandbox/index.ts";
import { start, stillClock } from "../unit/sandbox/client.ts";

/** The key every client of the properties sends. */
export const apiKey = "sandbox-key";

/** A request as it left the client. */
export interface Sent {
  readonly method: string;
  /** With the query, as written. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** A service that knows one record of each kind, a client for it, and what that client sent. */
export interface World {
  readonly sandbox: Sandbox;
  readonly client: Client;
  readonly sent: Sent[];
}

const post = async (sandbox: Sandbox, path: string, body: object): Promise<string> => {
  const response = await sandbox.fetch(`https://service.test/api/v1${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  // Every answer asked for here has its id on top, or that of the email in it.
  const answer = (await response.json()) as { id: string } | { email: { id: string } };
  return "email" in answer ? answer.email.id : answer.id;
};

const fill = async (sandbox: Sandbox) => ({
  contact: sandbox.addContact({ email: "known@service.example" }).id,
  company: await post(sandbox, "/companies", { companyName: "Known", domain: "service.example" }),
  list: await post(sandbox, "/lists", { name: "Known" }),
  scheduled: await post(sandbox, "/emails", {
    to: "known@service.example",
    subject: "Known",
    text: "Known",
    sendAt: new Date(start + 60_000).toISOString(),
  }),
});

const options = { seed: 1, clock: stillClock, limits: false } as const;

/** The ids of the known records: the same in every world. */
export const known = await fill(createSandbox(options));

/** Makes a world that nothing has happened in. */
export const createWorld = async (): Promise<World> => {
  const sandbox = createSandbox(options);
  await fill(sandbox);
  const sent: Sent[] = [];
  const client = new Client({
    apiKey,
    baseUrl: "https://service.test",
    limits: false,
    maxRetries: 0,
    responseValidation: "strict",
    fetch: (url, init) => {
      const { href, origin } = new URL(String(url));
      sent.push({
        method: init?.method ?? "GET",
        target: href.slice(origin.length),
        // The client hands over plain headers and text.
        headers: init?.headers as Record<string, string>,
        body: init?.body as string | undefined,
      });
      return sandbox.fetch(url, init);
    },
  });
  return { sandbox, client, sent };
};
