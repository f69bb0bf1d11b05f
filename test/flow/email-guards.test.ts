import { describe, expect, onTestFinished, test, vi } from "vitest";
import {
  Client,
  type ClientOptions,
  ConfigurationError,
  type EmailInput,
  memoryLedger,
  RecipientRefusedError,
  ValidationError,
} from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

const email: EmailInput = { to: "ada@ours.example", subject: "Welcome", text: "Hello" };
const sendAt = "2126-03-02T07:00:00.000Z";

const environment = (name: string, value: string): void => {
  vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
};

const service = (options: ClientOptions = {}) => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const requests: string[] = [];
  const fetch: typeof sandbox.fetch = (url, init) => {
    requests.push(`${init?.method} ${new URL(String(url)).pathname}`);
    return sandbox.fetch(url, init);
  };
  const client = new Client({ apiKey: "key", baseUrl: "http://localhost", fetch, limits: false, ...options });
  return { sandbox, client, requests };
};

const ways: Readonly<Record<string, (client: Client, to: string) => Promise<unknown>>> = {
  "emails.send": (client, to) => client.emails.send({ ...email, to }),
  "emails.send, once": (client, to) => client.emails.send({ ...email, to }, { once: "k" }),
  "emails.schedule": (client, to) => client.emails.schedule({ ...email, to, sendAt }),
  "emails.scheduled.update": (client, to) => client.emails.scheduled.update("se-1", { to } as object),
  "client.request": (client, to) =>
    client.request({ method: "POST", path: "/api/v1/emails", body: { ...email, to } }),
  "client.request, written otherwise": (client, to) =>
    client.request({ method: "POST", path: "/api/v1//%65mails/", body: { ...email, to } }),
  "client.request, with a parameter in its path": (client, to) =>
    client.request({ method: "POST", path: "/api/v1/emails;v=1", body: { ...email, to } }),
  "client.request to a scheduled email": (client, to) =>
    client.request({ method: "PATCH", path: "/api/v1/emails/scheduled/se-1", body: { to } }),
};

describe.each(Object.entries(ways))("%s", (_name, send) => {
  test("to a recipient who is not covered is refused, before anything leaves and any key is taken", async () => {
    const ledger = memoryLedger();
    const claim = vi.spyOn(ledger, "claim");
    const said: unknown[] = [];
    const warn = (...line: unknown[]) => said.push(line);
    const logger = { debug: warn, info: warn, warn, error: warn };
    const recipients = { allow: ["*@ours.example"] };
    const { client, requests } = service({ ledger, logger, recipients });
    const sending = send(client, "customer@theirs.example");
    await expect(sending).rejects.toThrow(RecipientRefusedError);
    await expect(sending).rejects.toMatchObject({
      outcome: "not-applied",
      attempts: 0,
      code: "recipient_refused",
    });
    expect([requests, claim.mock.calls]).toEqual([[], []]);
    expect(said).toHaveLength(1);
    expect(JSON.stringify(said)).not.toContain("theirs");
  });

  test("in a dry run of the client leaves nothing and takes no key", async () => {
    const ledger = memoryLedger();
    const claim = vi.spyOn(ledger, "claim");
    const { client, requests } = service({ ledger, dryRun: true });
    await send(client, "customer@theirs.example");
    expect([requests, claim.mock.calls]).toEqual([[], []]);
  });

  test("is blocked by the environment, regardless of the code", async () => {
    environment("TOUCHPOINT_RECIPIENTS", "boss@ours.example, *@test.example");
    environment("TOUCHPOINT_DRY_RUN", "1");
    const { client, requests } = service({ dryRun: false, recipients: { allow: () => true } });
    for (const one of [client, client.withOptions({ dryRun: false, recipients: { allow: [() => true] } })]) {
      await expect(send(one, "customer@theirs.example")).rejects.toThrow(
        "TOUCHPOINT_RECIPIENTS does not cover",
      );
      await send(one, "Boss@Ours.example");
      await send(one, "qa@test.example");
    }
    expect(requests).toEqual([]);
  });
});

const covered = ["ada@ours.example", "ADA@OURS.EXAMPLE", "bob@theirs.example"];
const uncovered = [
  "ada@sub.ours.example",
  "ada@notours.example",
  "ada@ours.example.evil",
  "bob2@theirs.example",
  "x@ours.exam\u017fle",
];
const raw = (client: Client, body: unknown) =>
  client.request({ method: "POST", path: "/api/v1/emails", body });

describe("recipients", () => {
  const allow = ["*@Ours.example", "Bob@theirs.example", (address: string) => address === "eve@one.example"];

  test.each([...covered, "Eve@one.example"])("cover %s", async (to) => {
    const { client, sandbox } = service({ recipients: { allow } });
    await client.emails.send({ ...email, to });
    expect(sandbox.state.emails).toHaveLength(1);
  });

  test.each(uncovered)("do not cover %s", async (to) => {
    const { client, requests } = service({ recipients: { allow } });
    await expect(raw(client, { ...email, to })).rejects.toThrow(RecipientRefusedError);
    expect(requests).toEqual([]);
  });

  test.each([
    '"ada@ours.example" <customer@theirs.example>',
    "ada@ours.example <customer@theirs.example>",
    "customer@theirs.example, ada@ours.example",
    "customer@theirs.example;ada@ours.example",
    ["ada@ours.example", "customer@theirs.example"],
    { email: "customer@theirs.example" },
    { address: "ada@ours.example" },
    7,
    undefined,
  ])("cannot be bypassed with %j", async (to) => {
    const { client, requests } = service({ recipients: { allow } });
    await expect(raw(client, { ...email, to })).rejects.toThrow(RecipientRefusedError);
    expect(requests).toEqual([]);
  });

  test("read a display name", async () => {
    const { client, requests } = service({ recipients: { allow } });
    await raw(client, { ...email, to: "Ada <ada@ours.example>" }).catch(() => undefined);
    expect(requests).toHaveLength(1);
  });

  test.each(["cc", "bcc", "CC"])("cover those in %s too", async (field) => {
    const { client, requests } = service({ recipients: { allow } });
    const more = { [field]: ["ada@ours.example", "customer@theirs.example"] };
    await expect(client.emails.send({ ...email, ...more })).rejects.toThrow(RecipientRefusedError);
    expect(requests).toEqual([]);
  });

  test("take only true from a function", async () => {
    const allowing = (async () => true) as unknown as () => boolean;
    const { client } = service({ recipients: { allow: allowing } });
    await expect(client.emails.send(email)).rejects.toThrow(RecipientRefusedError);
  });

  test("stay as they were given", async () => {
    const list = ["*@ours.example"];
    const { client } = service({ recipients: { allow: list } });
    list.push("*@theirs.example");
    for (const one of [client, client.withOptions({ maxRetries: 0 })])
      await expect(one.emails.send({ ...email, to: "a@theirs.example" })).rejects.toThrow(
        RecipientRefusedError,
      );
  });

  test("leave other calls alone", async () => {
    const { client, requests } = service({ recipients: { allow: [] } });
    await client.contacts.create({ email: "customer@theirs.example" });
    await client.emails.scheduled.list();
    expect(requests).toHaveLength(2);
  });

  test.each([
    ["companies.create", "/api/v1/emails"],
    ["contacts.create", "/v1/Emails/"],
  ])("cannot be bypassed by a route of %s to %s, which is refused", (operation, path) => {
    expect(() => service({ routes: { [operation]: path } })).toThrow(
      `routes["${operation}"]: only the operations of emails may use the path of emails`,
    );
  });

  test("apply to a path that routes sets in place of the documented one", async () => {
    const { client, requests } = service({ recipients: { allow }, routes: { "emails.send": "/v2/mail" } });
    const request = { method: "POST", path: "/v2/mail", body: { to: "a@theirs.example" } } as const;
    await expect(client.request(request)).rejects.toThrow(RecipientRefusedError);
    expect(requests).toEqual([]);
  });

  test.each([
    "/api/v1/emails.json",
    "/api/v1/emails%20",
    "/api/v1/emails%00",
    "/api/v1/emails%3Fx",
    "/api/v1/%65mails%zz",
    "/api/v1/%2565mails",
    "/api/v1%5Cemails",
    "/api/v1/x%2F..%2Femails",
    "/x%3F%2F..%2Fapi/v1/emails",
    "/api/v1//x/%252e%252e/emails/scheduled",
    "/gateway/api/v1/emails",
  ])("apply to %s, which a service may read as the path of emails", async (path) => {
    const { client, requests } = service({ recipients: { allow } });
    const request = { method: "POST", path, body: { to: "a@theirs.example" } } as const;
    await expect(client.request(request)).rejects.toThrow(RecipientRefusedError);
    expect(requests).toEqual([]);
  });

  test.each<[ClientOptions, string]>([
    [{ baseUrl: "http://localhost/api" }, "/v1/emails"],
    [{ baseUrl: "http://localhost/api/v1/emails" }, "/"],
    [{ baseUrl: "http://localhost/gateway/api/v1" }, "/emails"],
    [{ routes: { "emails.send": "/v2/mail" } }, "/api/v1/emails"],
  ])("cannot be bypassed with %j and %s", async (options, path) => {
    environment("TOUCHPOINT_RECIPIENTS", "*@ours.example");
    const { client, requests } = service(options);
    const body = { email: "a@theirs.example", to: "a@theirs.example" };
    await expect(client.request({ method: "POST", path, body })).rejects.toThrow(RecipientRefusedError);
    expect(requests).toEqual([]);
  });

  test.each(["/api/v1/emails-kept", "/api/v1/emailsettings"])("leave %s alone", async (path) => {
    const { client, requests } = service({ recipients: { allow } });
    await expect(client.request({ method: "POST", path })).rejects.toThrow();
    expect(requests).toEqual([`POST ${path}`]);
  });
});

describe("a dry run", () => {
  test("makes every check", async () => {
    const { client } = service({ recipients: { allow: ["*@ours.example"] } });
    const dryRun = { dryRun: true } as const;
    await expect(client.emails.send({ ...email, to: "nobody" }, dryRun)).rejects.toThrow(ValidationError);
    await expect(client.emails.send(email, { ...dryRun, once: " " })).rejects.toThrow("once must be");
    await expect(client.emails.send({ ...email, to: "a@b.example" }, dryRun)).rejects.toThrow(
      RecipientRefusedError,
    );
    const misspelt = { dryRun: "yes" } as unknown as typeof dryRun;
    await expect(client.emails.send(email, misspelt)).rejects.toThrow(
      'dryRun must be true or false, got "yes"',
    );
  });

  test.each([
    ["a call", {}, { dryRun: true }, ""],
    ["the client", { dryRun: true }, {}, ""],
    ["the environment", {}, {}, "true"],
  ])(
    "of %s returns what the service would return, with the request that would be sent",
    async (_whose, options, dry, variable) => {
      environment("TOUCHPOINT_DRY_RUN", variable);
      const { client, requests } = service({ ...options, responseValidation: "strict" });
      const sent = await client.emails.send(email, { once: "k", ...dry }).withResponse();
      const post = { method: "POST", path: "/api/v1/emails" };
      expect(sent.data).toMatchObject({
        to: email.to,
        subject: email.subject,
        request: { ...post, body: email },
      });
      expect(sent.response).toMatchObject({ status: 200, attempts: 0 });
      const kept = await client.emails.schedule({ ...email, sendAt: new Date(sendAt) }, dry);
      const request = { ...post, body: { ...email, sendAt } };
      expect(kept).toMatchObject({ status: "SCHEDULED", sendAt, request });
      for (const { id } of [sent.data, kept]) expect(id).toMatch(/^dry-run:/);
      expect(requests).toEqual([]);
      if ("dryRun" in dry) return;
      expect(await client.emails.scheduled.update(kept.id, { subject: "Later" })).toMatchObject({
        id: kept.id,
      });
      await client.emails.scheduled.cancel(kept.id);
    },
  );

  test("of the client is overruled by a call, that of the environment is not", async () => {
    const { client, sandbox } = service({ dryRun: true });
    await client.emails.send(email, { dryRun: false });
    await client.emails.send(email, { dryRun: false, once: "k" });
    expect(sandbox.state.emails).toHaveLength(2);
  });

  test("leaves the key of a scheduled email whose cancel was not sent", async () => {
    const ledger = memoryLedger();
    const { client } = service({ ledger });
    const { id } = await client.emails.schedule({ ...email, sendAt }, { once: "k" });
    await client.withOptions({ dryRun: true }).emails.scheduled.cancel(id);
    expect(await ledger.get("k")).toMatchObject({ state: "sent" });
  });
});

test.each([
  [
    { recipients: { allow: ["*"] } },
    "recipients.allow must contain only addresses, *@domain or (in options) functions",
  ],
  [{ recipients: { allow: ["*@*.example"] } }, "recipients.allow must contain"],
  [
    { recipients: { allow: ["ada@ours\u200b.example"] } },
    "recipients.allow must not contain the invisible character U+200B",
  ],
  [
    { recipients: { allow: ["*@ours.example\u2060"] } },
    "recipients.allow must not contain the invisible character U+2060",
  ],
  [{ recipients: { allow: ["mailto:ada@ours.example"] } }, "recipients.allow must contain only addresses"],
  [{ recipients: { allow: "*@ours.example" } }, "recipients must be { allow:"],
  [{ recipients: ["*@ours.example"] }, "recipients must be { allow:"],
  [{ recipients: { allow: [], deny: [] } }, 'recipients: there is no option "deny"'],
  [{ dryRun: "1" }, "dryRun must be true or false"],
])("a client refuses %j", (options, message) => {
  expect(() => service(options as unknown as ClientOptions)).toThrow(ConfigurationError);
  expect(() => service(options as unknown as ClientOptions)).toThrow(message);
});

test.each([
  ["TOUCHPOINT_RECIPIENTS", "", "TOUCHPOINT_RECIPIENTS is empty"],
  ["TOUCHPOINT_RECIPIENTS", "*", "TOUCHPOINT_RECIPIENTS must contain"],
  ["TOUCHPOINT_DRY_RUN", "yes", "TOUCHPOINT_DRY_RUN must be 1 or 0"],
])("a client refuses %s=%s in the environment", (name, value, message) => {
  environment(name, value);
  expect(() => service()).toThrow(message);
});

test("an environment that changes later changes no client and no sibling", async () => {
  vi.stubEnv("TOUCHPOINT_DRY_RUN", "1");
  const { client, requests } = service();
  vi.unstubAllEnvs();
  await client.emails.send(email);
  await client.withOptions({ dryRun: false }).emails.send(email, { dryRun: false });
  expect(requests).toEqual([]);
});
