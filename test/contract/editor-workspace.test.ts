import { expect, test } from "vitest";
import { editor } from "../support/editor.ts";

const patch = 'TypedContactPatch<{ plan: "free" | "pro"; seats?: number | undefined; }>';

const head = `
import * as z from "zod";
import { Client } from "touchpoint-sdk";
const contact = { email: "ada@example.com" };
const open = new Client();
const typed = new Client({
  customFields: z.object({ plan: z.enum(["free", "pro"]), seats: z.optional(z.number()) }),
  events: { "order.placed": z.object({ total: z.number() }), "signed.up": z.object({ via: z.optional(z.string()) }) },
});
`;

/** What is typed, and the first line that the editor shows for it. */
const slips: readonly (readonly [string, string])[] = [
  [
    'typed.contacts.create({ ...contact, customFields: { plan: "gold" } });',
    `Type '"gold"' is not assignable to type '"free" | "pro"'.`,
  ],
  [
    "typed.contacts.create({ ...contact, customFields: {} });",
    `Property 'plan' is missing in type '{}' but required in type '{ plan: "free" | "pro"; seats?: number | undefined; }'.`,
  ],
  [
    "typed.contacts.update('id', { customFields: { seat: 1 } });",
    "Object literal may only specify known properties, but 'seat' does not exist in type " +
      `'{ plan?: "free" | "pro" | null | undefined; seats?: number | null | undefined; }'. Did you mean to write 'seats'?`,
  ],
  [
    "typed.contacts.update('id', { customFields: { seats: '1' } });",
    "Type 'string' is not assignable to type 'number'.",
  ],
  [
    "typed.contacts.create({ ...contact, plan: 'free' });",
    "Object literal may only specify known properties, and 'plan' does not exist in type " +
      `'TypedContactInput<{ plan: "free" | "pro"; seats?: number | undefined; }>'.`,
  ],
  [
    "typed.events.record({ name: 'order.plced', contact, properties: { total: 1 } });",
    `Type '"order.plced"' is not assignable to type '"order.placed" | "signed.up"'. Did you mean '"order.placed"'?`,
  ],
  [
    "typed.events.record({ name: 'order.placed', contact, properties: { total: '1' } });",
    "Type 'string' is not assignable to type 'number'.",
  ],
  [
    "typed.events.record({ name: 'order.placed', contact, properties: {} });",
    "Property 'total' is missing in type '{}' but required in type '{ total: number; }'.",
  ],
  [
    "typed.events.record({ name: 'order.placed', contact });",
    `Argument of type '{ name: "order.placed"; contact: { email: string; }; }' is not assignable to parameter of type ` +
      `'EventWith<"order.placed", { total: number; }, ${patch}>'.`,
  ],
  [
    "typed.events.recordBatch([{ name: 'order.placed', contact }]);",
    `Property 'properties' is missing in type '{ name: "order.placed"; contact: { email: string; }; }' but required in ` +
      `type 'EventWith<"order.placed", { total: number; }, ${patch}>'.`,
  ],
  [
    "open.events.record({ name: 'service.sent', contact });",
    "Type '\"service.sent\"' is not assignable to type '\"Names that start with service. are for events of the service itself.\"'.",
  ],
  [
    "open.events.record({ name: 'a', contact, properties: { password: 'x' } });",
    "Type '\"x\"' is not assignable to type '\"The service refuses an event with this property.\"'.",
  ],
  [
    "open.events.record({ name: 'a', contact, propertis: {} });",
    "Object literal may only specify known properties, but 'propertis' does not exist in type 'OpenEvent<\"a\", ContactPatch>'. " +
      "Did you mean to write 'properties'?",
  ],
  [
    // Not the constructor, whose second signature is left out of the published declarations.
    "open.withOptions({ events: { 'service.sent': z.object({}) } });",
    "Type 'ZodObject<{}, $strip>' is not assignable to type '\"Names that start with service. are for events of the service itself.\"'.",
  ],
  [
    "open.withOptions({ customFields: { plan: 'string' } });",
    "Object literal may only specify known properties, and 'plan' does not exist in type 'StandardSchema<OpenFields>'.",
  ],
];

const program = (code: string): string => `${head}${code}\n`;
const opened = editor(slips.map(([code]) => program(code)));

test.each(slips)("%s", (code, line) => {
  expect(opened(program(code)).errors).toEqual([line]);
});
