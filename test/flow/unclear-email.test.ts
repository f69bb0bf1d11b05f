import { expect, test } from "vitest";
import { Client, NotFoundError } from "../../src/index.ts";

const options = { apiKey: "key", baseUrl: "http://localhost", limits: false } as const;
const email = { to: "ada@example.com", subject: "Hi", text: "Hi" };

test("an abort whose reason is one of our errors does not free a key that may have been used", async () => {
  const abort = new AbortController();
  const requests: string[] = [];
  const fetch = (url: string, { signal }: RequestInit) =>
    new Promise<Response>((_resolve, reject) => {
      requests.push(url);
      signal?.addEventListener("abort", () => reject(signal.reason));
      abort.abort(new NotFoundError("mine", { status: 404, headers: new Headers(), body: undefined }));
    });
  const client = new Client({ ...options, fetch });
  await expect(client.emails.send(email, { once: "k", signal: abort.signal })).rejects.toBeInstanceOf(
    NotFoundError,
  );
  await expect(client.emails.send(email, { once: "k" })).rejects.toMatchObject({ outcome: "unknown" });
  expect(requests).toHaveLength(1);
});

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
