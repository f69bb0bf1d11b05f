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
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const server = await sandbox.listen({ port: 0, workbench: false });
  const gateway = await Gateway.start(program, server.port);
  const clients: Client[] = [];
  const newClient = () => {
    const client = new Client({ apiKey: "key", baseUrl: gateway.url, limits: false, timeoutMs: 5_000 });
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
    /** An email under a fault of the service, as the client's first request or after one that succeeded. */
    async under(fault: Fault, { isFirst }: { readonly isFirst: boolean }): Promise<Finding> {
      const client = newClient();
      if (!isFirst) for (let calls = 0; calls < 2; calls += 1) await client.contacts.list();
      sandbox.fail({ operation: "emails.send", with: fault });
      return send(client);
    },
    async close(): Promise<void> {
      for (const client of clients) await client.close({ graceMs: 0 });
      await gateway.stop();
      await server.close();
    },
  };
};
