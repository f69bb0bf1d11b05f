import type { Contact } from "../../src/service/contacts.ts";
import type { EventInput } from "../../src/service/events.ts";

export const aContact = (id: string, over: Partial<Contact> = {}): Contact => ({
  id,
  email: `${id}@example.com`,
  stage: "NEW",
  source: "MANUAL",
  verified: false,
  customFields: {},
  listIds: [],
  createdAt: "2026-01-31T09:00:00.000Z",
  updatedAt: "2026-01-31T09:00:00.000Z",
  ...over,
});

export const anEvent = (over: Partial<EventInput> = {}): EventInput => ({
  name: "order.placed",
  contact: { email: "ada@example.com" },
  ...over,
});
