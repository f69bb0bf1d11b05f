import { person } from "./people.ts";

/** How many lines of each kind the demo's file has. */
export const plan = { distinct: 940, repeated: 40, refused: 15, unreadable: 5 } as const;

/** How many contacts of the workspace the events are about. */
const people = 1_200;

/** Numbers from 0 up to 1, the same on every run (a linear congruential generator). */
const seeded = (seed: number) => () => {
  // The constants of Knuth's MMIX do not fit a double; these are Borland's.
  seed = (Math.imul(seed, 22_695_477) + 1) >>> 0;
  return seed / 2 ** 32;
};

const random = seeded(2_026);
const below = (count: number): number => Math.floor(random() * count);
const orderId = (): string => `order-${10_000 + below(90_000)}`;

/** What people do, and the share of each in percent. */
const activities: readonly (readonly [name: string, share: number, properties: () => object])[] = [
  [
    "page.viewed",
    40,
    () => ({ path: ["/pricing", "/docs", "/changelog", "/"][below(4)], seconds: below(300) }),
  ],
  ["feature.used", 25, () => ({ feature: ["export", "import", "search", "report"][below(4)] })],
  ["order.placed", 15, () => ({ orderId: orderId(), total: below(90_000) / 100, currency: "EUR" })],
  ["invoice.paid", 10, () => ({ orderId: orderId(), days: below(60) })],
  ["trial.started", 5, () => ({ plan: ["team", "business"][below(2)] })],
  ["support.requested", 5, () => ({ topic: "Überweisung über 1.000 €", urgent: random() < 0.2 })],
];

const activity = () => {
  let at = below(100);
  for (const [name, share, properties] of activities) {
    if (at < share) return { name, properties: properties() };
    at -= share;
  }
  throw new RangeError("the shares add up to 100");
};

const validEvent = (index: number): object => {
  const { name, properties } = activity();
  const who = below(people);
  const { email } = person(who);
  // Every 60th event is about a person who is not a contact, and creates no contact.
  if (index % 60 === 59)
    return {
      id: `evt-${index}`,
      name,
      contact: { email: `guest-${index}@example.org` },
      createContact: false,
    };
  // Every 20th event has no id. The client derives one from the content, so the content is unique.
  if (index % 20 === 7)
    return { name, contact: { email }, properties: { ...properties, session: `s-${index}` } };
  const contact = index % 3 === 0 ? { email, externalId: `user-${who}` } : { email };
  return { id: `evt-${index}`, name, contact, properties };
};

/** Events that cannot be recorded: the client refuses the first four kinds, the service the others. */
const refusedEvent = (index: number): object => {
  const { email } = person(below(people));
  const kinds: readonly object[] = [
    { contact: { email }, properties: { note: "the name is missing" } },
    { name: "service.email.opened", contact: { email } },
    { name: "order.placed", contact: { email: "nobody at example.com" } },
    { name: "password.changed", contact: { email }, properties: { password: "hunter2" } },
    { name: "trial.ends", contact: { email }, occurredAt: "2999-12-31T23:59:59Z" },
    { name: "page.viewed", contact: { id: "ct_of_another_workspace" } },
  ];
  return { id: `bad-${index}`, ...kinds[index % kinds.length] };
};

const unreadableLine = (index: number): string =>
  index % 2 === 0 ? `{"id":"cut-${index}","name":"page.viewed","contact":{"ema` : `["page.viewed",${index}]`;

const times = (count: number, make: (index: number) => string): string[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** The lines of `events.ndjson`, the same on every run. The events have no times, because a fixed time would soon be too old. */
export const makeLines = (): string[] => {
  const lines = times(plan.distinct, (index) => JSON.stringify(validEvent(index)));
  const valid = [...lines];
  const extra = [
    ...times(plan.repeated, () => valid[below(valid.length)] ?? ""),
    ...times(plan.refused, (index) => JSON.stringify(refusedEvent(index))),
    ...times(plan.unreadable, unreadableLine),
  ];
  for (const line of extra) lines.splice(below(lines.length + 1), 0, line);
  return lines;
};
