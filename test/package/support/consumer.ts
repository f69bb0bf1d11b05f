/** A program with right and wrong uses of the package's types. It does not import touchpoint-sdk/files. */
export const fileless = `
  import { Client, type Contact, type ContactInput, isTouchpointError, RateLimitError } from "touchpoint-sdk";
  import { NotFoundError } from "touchpoint-sdk/errors";
  import { redisLimits } from "touchpoint-sdk/redis";
  import { createSandbox } from "touchpoint-sdk/sandbox";

  declare module "touchpoint-sdk" {
    interface Contact {
      readonly vip?: boolean;
    }
    interface ContactInput {
      nickname?: string;
    }
    interface ContactPatch {
      nickname?: string | null;
    }
    interface CompanyInput {
      size?: number;
    }
    interface CompanyPatch {
      size?: number;
    }
    interface CompanyPerson {
      phone?: string;
    }
    interface ListInput {
      color?: string;
    }
    interface EventFields {
      source?: string;
    }
    interface EmailFields {
      cc?: string[];
    }
    interface ScheduledEmailPatch {
      cc?: string[];
    }
  }

  const email = "ada@example.com";

  /** The fields declared above, in each call that sends them. */
  export const sendDeclared = async ({ contacts, companies, lists, events, emails }: Client, typed: Client<{ plan: string }, { "order.placed": object }>): Promise<void> => {
    await contacts.create({ email, nickname: "Ada" });
    await contacts.upsert({ email, nickname: null });
    await contacts.update("c1", { nickname: null });
    await contacts.import([{ email, nickname: "Ada" }]);
    await companies.create({ companyName: "Engines", size: 3, contacts: [{ email, phone: "1" }] });
    await companies.update("co1", { size: 4 });
    await lists.create({ name: "News", color: "red" });
    await events.record({ name: "x", contact: { email }, source: "web", contactFields: { nickname: "Ada" } });
    await events.recordBatch([{ name: "x", contact: { email }, source: "web" }]);
    const mail = { to: email, subject: "Hi", text: "Hi", cc: [email] };
    await emails.send(mail);
    await emails.schedule({ ...mail, sendAt: "2030-01-01T00:00:00Z" });
    await emails.scheduled.update("s1", { cc: [] });
    await typed.contacts.create({ email, nickname: "Ada", customFields: { plan: "pro" } });
    await typed.contacts.update("c1", { nickname: null });
    await typed.contacts.upsert({ email, nickname: "Ada" });
    await typed.events.record({ name: "order.placed", contact: { email }, properties: {}, source: "web" });
    // @ts-expect-error declared for contacts, not for companies
    await companies.update("co1", { nickname: "Ada" });
  };

  export const run = async (client: Client): Promise<Contact[]> => {
    const input: ContactInput = { email: "ada@example.com", stage: "DEAD", customFields: { plan: null } };
    // @ts-expect-error a mistyped field
    const mistyped: ContactInput = { email: "ada@example.com", nmae: "Ada" };
    const contact: Contact = await client.contacts.create(input);
    const name: string | null | undefined = contact.name;
    const declaredByMerging: boolean | undefined = contact.vip;
    // @ts-expect-error a mistyped field
    contact.emial;
    // @ts-expect-error the name may be missing
    const sure: string = contact.name;
    for await (const { id } of client.contacts.list({ search: name ?? sure })) await client.contacts.update(id, mistyped);
    const { outcome, runsStarted } = await client.events.record({ name: "order.placed", contact: { id: contact.id } });
    // @ts-expect-error a count is no string
    const count: string = runsStarted;
    return [{ ...contact, name: outcome + count, vip: declaredByMerging === true }];
  };

  export const waitOf = (error: unknown): number | undefined =>
    isTouchpointError(error) && error instanceof RateLimitError ? error.retryAfterMs : undefined;

  export const isGone = (error: unknown): boolean => error instanceof NotFoundError;
  export const client = new Client({ apiKey: async () => "tp_key", baseUrl: "https://crm.example", fetch });
  export const sandbox = createSandbox({ apiKeys: ["tp_key"] });
  // @ts-expect-error no client of Redis
  export const unshared = redisLimits({}, { id: "key" });
`;

/** The same program, with touchpoint-sdk/files. */
export const program = `${fileless}
  import { readCsv, writeNdjson } from "touchpoint-sdk/files";

  export const copied = writeNdjson("people.ndjson", readCsv("people.csv"));
  // @ts-expect-error a file has a name
  export const nameless = readCsv(1);
`;

/** The strictest compiler options. */
export const strict = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  noEmit: true,
  target: "es2022",
};
