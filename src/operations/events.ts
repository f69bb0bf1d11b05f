import { BatchAnswer, EventBatch, EventInput, EventReceipt } from "../schemas/event.ts";
import { operation } from "./define.ts";
import { readBatch, readReceipt } from "./lenient.ts";
import { writeBatch, writeOccurredAt } from "./moments.ts";

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
    write: writeOccurredAt,
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
