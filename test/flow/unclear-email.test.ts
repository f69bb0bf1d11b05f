import { expect, test } from "vitest";
import { Client, memoryLedger, NotFoundError } from "../../src/index.ts";

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

const gateways = [
  ...[
    "Bad Gateway",
    "upstream request timeout",
    "Upstream prematurely closed connection",
    "Invalid or incomplete response",
  ],
  ...["The request timed out", "Proxy error", "upstream connect error"],
  // The words of Node, undici, Go, Python, Java, .NET and curl for a request that was sent and got no response.
  ...["socket hang up", "read ECONNRESET", "write EPIPE", "connect ETIMEDOUT 10.0.0.1:443", "aborted"],
  ...["other side closed", "fetch failed", "terminated", "Parse Error: Expected HTTP/"],
  ...["EOF", "unexpected EOF", "context deadline exceeded", "write tcp: broken pipe", "context canceled"],
  ...[
    "Server disconnected without sending a response.",
    "Premature EOF",
    "Unexpected end of file from server",
  ],
  ...[
    "The response ended prematurely.",
    "An error occurred while sending the request.",
    "A task was canceled.",
  ],
  ...[
    "cURL error 52: Empty reply from server",
    "No response from server",
    "Service unavailable",
    "no healthy host",
  ],
].map((error) => ({ error }));

test.each([{ statusCode: 502, error: "Bad Gateway", message: "socket hang up" }, ...gateways])(
  "a proxy's JSON 502 %j leaves an email unknown, and its key taken",
  async (body) => {
    let requests = 0;
    const fetch = async () => {
      requests += 1;
      return Response.json(body, { status: 502 });
    };
    const client = new Client({ ...options, fetch });
    const send = () => client.emails.send(email, { once: "k" });
    await expect(send()).rejects.toMatchObject({
      ...{ code: "bad_gateway", outcome: "unknown", message: body.error },
    });
    await expect(send()).rejects.toMatchObject({ outcome: "unknown" });
    expect(requests).toBe(1);
  },
);

test("any other sentence of a 502 is the mail account's refusal, and frees the key", async () => {
  const sentences = [
    ...["The mailbox is full.", "The mail account is disconnected.", "SMTP 550: no such user"],
    ...["The mail account refused the email.", "Invalid login: 535-5.7.8 Username and Password not accepted"],
    ...[
      "The mail account failed to send the email.",
      "552 Requested mail action aborted: exceeded storage",
      "550 Requested action not taken: mailbox unavailable",
    ],
  ];
  for (const error of sentences) {
    const ledger = memoryLedger();
    const fetch = async () => Response.json({ error }, { status: 502 });
    const client = new Client({ ...options, ledger, fetch });
    await expect(client.emails.send(email, { once: "k" })).rejects.toMatchObject({
      ...{ code: "mail_account_failed", outcome: "not-applied", message: error },
    });
    expect(await ledger.get("k")).toBeUndefined();
  }
});
