import { expect, test } from "vitest";
import { Client } from "../../src/index.ts";

const clientOf = (text: string) => {
  const fetch = async (): Promise<Response> => new Response(text, { status: 200 });
  return new Client({ apiKey: "key", baseUrl: "https://crm.test", fetch, limits: false, maxRetries: 0 });
};

const calls: Readonly<Record<string, (client: Client) => Promise<unknown>>> = {
  "lists.addContacts": (client) => client.lists.addContacts("list-1", ["ada@x.io"]),
  "lists.removeContacts": (client) => client.lists.removeContacts("list-1", ["ada@x.io"]),
  "contacts.update": (client) => client.contacts.update("contact-1", { name: "Ada" }),
  "emails.scheduled.cancel": (client) => client.emails.scheduled.cancel("email-1"),
};

test.each(Object.keys(calls))("%s accepts a plain OK like an empty body", async (name) => {
  for (const text of ["OK", "ok\n", "Accepted.", "Deleted"])
    await expect(calls[name]?.(clientOf(text)), text).resolves.toEqual(await calls[name]?.(clientOf("")));
});

test.each(Object.keys(calls))("%s accepts no other text as a success", async (name) => {
  for (const text of ["<html>OK</html>", '{"id": "c-1"', "upstream connect error", "OK to retry later"])
    await expect(calls[name]?.(clientOf(text)), text).rejects.toMatchObject({ outcome: "unknown" });
});

test.each(Object.keys(calls))(
  "%s does not accept a body that was lost in decoding as a success",
  async (name) => {
    const headers = { "content-encoding": "br", "content-length": "31" };
    const fetch = async (): Promise<Response> => new Response("", { status: 200, headers });
    const options = {
      apiKey: "key",
      baseUrl: "https://crm.test",
      fetch,
      limits: false,
      maxRetries: 0,
    } as const;
    await expect(calls[name]?.(new Client(options))).rejects.toMatchObject({ outcome: "unknown" });
  },
);
