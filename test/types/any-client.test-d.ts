import { expectTypeOf, test } from "vitest";
import * as z from "zod";
import { type AnyClient, Client, type Contact } from "../../src/index.ts";

const typedClient = () =>
  new Client({
    customFields: z.object({ plan: z.enum(["free", "pro"]), seats: z.optional(z.number()) }),
    events: { "order.placed": z.object({ total: z.number() }) },
  });

test("AnyClient takes a client of any workspace", () => {
  const emailOf = async (client: AnyClient): Promise<string> => {
    const found = await client.contacts.find("ada@example.com");
    expectTypeOf(found).toEqualTypeOf<Contact | null>();
    for await (const each of client.contacts.list()) expectTypeOf(each.id).toEqualTypeOf<string>();
    await client.lists.addContacts("list-1", ["ada@example.com"]);
    await client.emails.send({ to: "ada@example.com", subject: "Hello", text: "Hello" });
    await client.withOptions({ timeoutMs: 1 }).close();
    await client.events.record({ name: "order.placed", contact: { email: "ada@example.com" } });
    await client.events.recordBatch([{ name: "order.placed", contact: { email: "ada@example.com" } }]);
    const recorder = client.events.recorder();
    await recorder.record({ name: "order.placed", contact: { email: "ada@example.com" } });
    await recorder.close();
    await client.contacts.upsert({ email: "ada@example.com", customFields: { plan: "pro" } });
    client.budgets();
    return found?.email ?? "";
  };
  emailOf(new Client());
  emailOf(typedClient());
  emailOf(new Client({ events: { "order.placed": z.object({ total: z.number() }) } }));
  emailOf(new Client({ customFields: z.object({ plan: z.string() }) }));
  emailOf(new Client<{ plan: string }, { "order.placed": { total: number } }>());
  emailOf(typedClient().withOptions({ timeoutMs: 1 }));
});

test("AnyClient still checks what it can", () => {
  const misuse = (client: AnyClient) => {
    // @ts-expect-error reserved
    client.events.record({ name: "service.sent", contact: { id: "contact-1" } });
    // @ts-expect-error no such field
    client.contacts.create({ email: "ada@example.com", fullName: "Ada" });
  };
  // @ts-expect-error no client
  misuse({ contacts: new Client().contacts });
});
