import { Client } from "../../src/client.ts";
import type { ClientOptions } from "../../src/options/options.ts";
import { createSandbox, type Sandbox, type SandboxOptions } from "../../src/sandbox/index.ts";
import { stillClock } from "../unit/sandbox/client.ts";

/** A sandbox on a still clock without limits, and a client that accepts only answers of the documented shapes. */
export const service = (
  options: SandboxOptions = {},
  apiKey = "sandbox-key",
): { readonly sandbox: Sandbox; readonly client: Client } => {
  const sandbox = createSandbox({ clock: stillClock, limits: false, seed: 1, ...options });
  return { sandbox, client: clientOf(sandbox.fetch, { apiKey }) };
};

/** A client that sends once and takes no answer for granted. */
export const clientOf = (fetch: typeof globalThis.fetch, options: Partial<ClientOptions> = {}): Client =>
  new Client({
    apiKey: "sandbox-key",
    baseUrl: "https://service.test",
    limits: false,
    maxRetries: 0,
    responseValidation: "strict",
    fetch,
    ...options,
  });

/** A client whose every call is answered with this body, and what it sent. */
export const answering = (status: number, body: unknown, headers: Record<string, string> = {}) => {
  const sent: { readonly url: string; readonly body: unknown }[] = [];
  const client = clientOf(async (url, init) => {
    // The client hands over text.
    sent.push({
      url: String(url),
      body: init?.body === undefined ? undefined : JSON.parse(init.body as string),
    });
    return new Response(body === undefined ? null : JSON.stringify(body), {
      status,
      headers: { "content-type": "application/json", ...headers },
    });
  });
  return { client, sent };
};
