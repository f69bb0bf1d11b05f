import { operation } from "../define.ts";
import { readBatch, readReceipt } from "../response-shapes.ts";
import { writeBatch, writeOccurredAt } from "../write-timestamps.ts";
import { BatchAnswer, EventBatch, EventInput, EventReceipt } from "./schema.ts";

/** An event without an id gets one, once for all attempts: a repeat after a lost answer is recorded once. */
const withId = (event: unknown): unknown => {
  const { id }: { readonly id?: unknown } = Object(event);
  return id === undefined ? { ...Object(event), id: crypto.randomUUID() } : event;
};

/** Source: service document, Endpoints, Events. */
export const events = {
  record: operation({
    id: "events.record",
    method: "POST",
    path: "/api/v1/events",
    scope: ["events:write"],
    replay: "keyed",
    budgets: ["requests", "events"],
    input: EventInput,
    output: EventReceipt,
    read: readReceipt,
    write: (event) => writeOccurredAt(withId(event)),
  }),
  recordBatch: operation({
    id: "events.recordBatch",
    method: "POST",
    path: "/api/v1/events/batch",
    scope: ["events:write"],
    replay: "keyed",
    budgets: ["requests", "events"],
    weight: (batch) => batch.events.length,
    input: EventBatch,
    output: BatchAnswer,
    read: readBatch,
    write: writeBatch,
  }),
};
