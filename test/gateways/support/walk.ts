import { Client, isTouchpointError } from "../../../src/index.ts";
import { createSandbox, type Fault } from "../../../src/sandbox/index.ts";
import { Gateway, type GatewayProgram } from "./gateway.ts";

/** What came of an email. */
export interface Finding {
  /** The class of the error; `sent` without one. */
  readonly result: string;
  readonly outcome: string | undefined;
  readonly status: number | undefined;
  readonly message: string;
  /** Requests that the service received for it. */
  readonly requests: number;
  /** How often it went out. */
  readonly emails: number;
}

const email = { to: "ada@example.com", subject: "Hi", text: "Hi" };

/** A gateway with a sandbox behind it, and a client before it. */
export const openWalk = async (program: GatewayProgram) => {
  // A key for each client: the `Retry-After: 5` of Varnish's own 503 pauses the emails of its key.
  const apiKeys = Array.from({ length: 100 }, (_none, at) => `key-${at}`);
  const sandbox = createSandbox({ apiKeys, limits: false });
  const server = await sandbox.listen({ port: 0, workbench: false });
  const gateway = await Gateway.start(program, server.port);
  const clients: Client[] = [];
  const newClient = () => {
    const client = new Client({
      apiKey: `key-${clients.length}`,
      baseUrl: gateway.url,
      limits: false,
      timeoutMs: 5_000,
    });
    clients.push(client);
    return client;
  };
  const send = async (client: Client, more: { readonly text?: string } = {}): Promise<Finding> => {
    const subject = `${Math.random()}`;
    const before = sandbox.state.requests.length;
    const error = await client.emails.send({ ...email, ...more, subject }).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    const emails = sandbox.state.emails.filter((sent) => sent.subject === subject).length;
    const requests = sandbox.state.requests.length - before;
    const seen = { requests, emails };
    if (error === undefined) return { result: "sent", outcome: undefined, status: 200, message: "", ...seen };
    if (!isTouchpointError(error)) throw error;
    const { name, outcome, message } = error;
    return { result: name, outcome, status: "status" in error ? error.status : undefined, message, ...seen };
  };
  return {
    sandbox,
    server,
    gateway,
    newClient,
    send,
    /** An email under a fault of the service. */
    async under(fault: Fault): Promise<Finding> {
      sandbox.fail({ operation: "emails.send", with: fault });
      return send(newClient());
    },
    async close(): Promise<void> {
      for (const client of clients) await client.close({ graceMs: 0 });
      await gateway.stop();
      await server.close();
    },
  };
};
