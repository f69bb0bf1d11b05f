import { expect, test } from "vitest";
import { Client } from "../../src/index.ts";

const options = { apiKey: "key", baseUrl: "http://localhost", limits: false } as const;
const email = { to: "ada@example.com", subject: "Hi", text: "Hi" };

test.each([{ statusCode: 502, error: "Bad Gateway", message: "socket hang up" }, { error: "Bad Gateway" }])(
  "a proxy's JSON 502 %j leaves an email unknown, and its key taken",
  async (body) => {
    let requests = 0;
    const fetch = async () => {
      requests += 1;
      return Response.json(body, { status: 502 });
    };
    const client = new Client({ ...options, fetch });
    const send = () => client.emails.send(email, { once: "k" });
    await expect(send()).rejects.toMatchObject({ code: "bad_gateway", outcome: "unknown" });
    await expect(send()).rejects.toMatchObject({ outcome: "unknown" });
    expect(requests).toBe(1);
  },
);

test.each([{ error: { code: "CLASH" } }, { errors: ["x"] }, { ok: false }])(
  "a batch item that failed as %j is not taken for recorded, although it echoes its id",
  async (sign) => {
    const fetch = async () => Response.json({ results: [{ id: "e1", ...sign }] }, { status: 207 });
    const client = new Client({ ...options, fetch });
    const report = await client.events.recordBatch([
      { id: "e1", name: "seen", contact: { email: email.to } },
    ]);
    expect(report).toMatchObject({ accepted: 0, rejected: 1 });
  },
);
