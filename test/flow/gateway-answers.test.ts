import { expect, test } from "vitest";
import { Client, GatewayTimeoutError, isTouchpointError } from "../../src/index.ts";

const email = { to: "ada@example.com", subject: "Hi", text: "Hi" };

const answering = (status: number, body: string, headers: Record<string, string> = {}) => {
  let requests = 0;
  const fetch = async () => {
    requests += 1;
    return new Response(body, { status, headers });
  };
  const options = { apiKey: "key", baseUrl: "http://localhost", limits: false } as const;
  // Without a random wait before a repeat.
  const client = new Client({ ...options, fetch, maxRetries: 0 }, { random: () => 0 });
  return { client, requests: () => requests };
};

const errorOf = async (call: PromiseLike<unknown>) => {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isTouchpointError(error)) throw error;
  return error;
};

const page = (title: string) => `<html><head><title>${title}</title></head><body>…</body></html>`;
const haproxy =
  "<html><body><h1>502 Bad Gateway</h1>\nThe server returned an invalid or incomplete response.\n</body></html>\n";
const check = "It may have been applied: check before sending it again.";

test.each([
  [
    "nginx",
    502,
    page("502 Bad Gateway"),
    { server: "nginx/1.22.1" },
    "nginx/1.22.1 responded with 502 (Bad Gateway)",
  ],
  ["HAProxy", 502, haproxy, {}, "a gateway or web server responded with 502 (Bad Gateway)"],
  [
    "Varnish",
    503,
    page("503 Backend fetch failed"),
    { server: "Varnish", via: "1.1 varnish (Varnish/7.1)" },
    "Varnish responded with 503 (Backend fetch failed)",
  ],
  ["Caddy", 502, "", { server: "Caddy" }, "Caddy responded with 502"],
  ["one that Via alone names", 504, "", { via: "1.0 inner, 1.1 google" }, "1.1 google responded with 504"],
  [
    "Envoy",
    503,
    "upstream connect error or disconnect/reset before headers\n",
    { server: "envoy" },
    "envoy responded with 503 (upstream connect error or disconnect/reset before headers)",
  ],
  [
    "an edge",
    520,
    page("example.com | 520: Web server is returning\n an unknown error"),
    { server: "cloudflare" },
    "cloudflare responded with 520 (example.com | 520: Web server is returning an unknown error)",
  ],
  [
    "Express",
    500,
    '<!DOCTYPE html>\n<html lang="en">\n<head>\n<title>Error</title>\n</head>\n<body>\n<pre>Error: socket hang up<br> &nbsp; &nbsp;at …</pre>',
    { "x-powered-by": "Express" },
    "a gateway or web server responded with 500 (Error: socket hang up)",
  ],
  ["one without a word", 504, "", {}, "a gateway or the service responded with 504 without a reason"],
])(
  "an email's error names %s, and says that it may have gone out",
  async (_who, status, body, headers, told) => {
    const { client } = answering(status, body, headers);
    const error = await errorOf(client.emails.send(email));
    expect([error.message, error.outcome]).toEqual([`emails.send: ${told}. ${check}`, "unknown"]);
  },
);

test("an email that a gateway refused says that it was not sent", async () => {
  const { client } = answering(413, page("413 Request Entity Too Large"), { server: "nginx/1.22.1" });
  const error = await errorOf(client.emails.send(email));
  expect([error.message, error.outcome]).toEqual([
    "emails.send: nginx/1.22.1 responded with 413 (Request Entity Too Large). Nothing was applied.",
    "not-applied",
  ]);
});

test("the message says whether a repeat is harmless, as for a lost connection", async () => {
  const { client } = answering(504, "", { server: "Caddy" });
  const told = async (call: PromiseLike<unknown>) => (await errorOf(call)).message;
  expect([
    await told(client.contacts.list()),
    await told(client.contacts.update("ct_1", { title: "x" })),
  ]).toEqual([
    "contacts.list: Caddy responded with 504. Nothing was changed.",
    "contacts.update: Caddy responded with 504. It may have been applied; repeating it does no harm.",
  ]);
});

test("a gateway's own sentence stays the message, and the hint says that it may have been applied", async () => {
  const { client } = answering(504, '{"message":"The upstream server is timing out"}', {
    server: "kong/3.4",
  });
  expect(await errorOf(client.emails.send(email))).toMatchObject({
    message: "The upstream server is timing out",
    hint: check,
    outcome: "unknown",
  });
});

test("a 500 in the form of Fastify has that hint, too", async () => {
  const body =
    '{"statusCode":500,"code":"FST_REPLY_FROM_UNDICI_SOCKET_ERROR","error":"Internal Server Error"}';
  const { client } = answering(500, body);
  const { message, hint } = await errorOf(client.emails.send(email));
  expect([message, hint]).toEqual(["Internal Server Error", check]);
});

test("a 500 in the form of the service has no such hint", async () => {
  const { client } = answering(500, '{"error":"Internal error."}');
  const { message, hint } = await errorOf(client.emails.send(email));
  expect([message, hint]).toEqual(["Internal error.", undefined]);
});

test("the service's own sentence has no such hint", async () => {
  const { client } = answering(502, '{"error":"Mailbox full."}', { server: "nginx" });
  const error = await errorOf(client.emails.send(email));
  expect([error.name, error.message, error.hint]).toEqual(["MailAccountError", "Mailbox full.", undefined]);
});

test("a 504 has a class and a code of its own", async () => {
  const { client } = answering(504, "", {});
  const error = await errorOf(client.emails.send(email));
  expect(error).toBeInstanceOf(GatewayTimeoutError);
  expect([error.name, error.code]).toEqual(["GatewayTimeoutError", "gateway_timeout"]);
});

test("a name or page that is long or hostile does not flood the message", async () => {
  const headers = { server: `x\u00a0${"y".repeat(5_000)}` };
  const { client } = answering(502, page(`502 ${"z".repeat(5_000)}`), headers);
  const { message } = await errorOf(client.emails.send(email));
  expect(message.length).toBeLessThan(400);
  expect(message).toMatch(/^emails\.send: x y+… responded with 502 \(z+…\)\. It may/);
});

test.each([
  ["contacts.list", (client: Client) => client.contacts.list()],
  ["contacts.update", (client: Client) => client.contacts.update("ct_1", { title: "x" })],
  ["events.record", (client: Client) => client.events.record({ name: "n", contact: { id: "ct_1" } })],
  [
    "events.recordBatch",
    (client: Client) => client.events.recordBatch([{ name: "n", contact: { id: "ct_1" } }]),
  ],
])("%s is repeated after the status of an edge", async (_operation, call) => {
  const statuses = [520, 521, 522, 523, 524, 527, 529, 530];
  for (const status of statuses) {
    const { client, requests } = answering(status, page(`${status}`));
    await errorOf(call(client.withOptions({ maxRetries: 1 })));
    expect([status, requests()]).toEqual([status, 2]);
  }
});

test.each([
  ["emails.send", (client: Client) => client.emails.send(email)],
  ["contacts.create", (client: Client) => client.contacts.create({ email: "ada@example.com" })],
])("%s stays unknown after the status of an edge, and is not repeated", async (_operation, call) => {
  for (const status of [408, 460, 499, 520, 524, 529, 530, 598]) {
    const { client, requests } = answering(status, page(`${status}`));
    expect(await errorOf(call(client.withOptions({ maxRetries: 4 })))).toMatchObject({ outcome: "unknown" });
    expect(requests()).toBe(1);
  }
});
