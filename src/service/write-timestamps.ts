import { writtenMoment } from "./timestamps.ts";

type Fields = Readonly<Record<string, unknown>>;

const withMoment = (record: Fields, field: string): Fields => {
  const value = record[field];
  // A Date writes itself.
  return typeof value === "string" ? { ...record, [field]: writtenMoment(value) } : record;
};

/** Writes `sendAt` in the form that any reader of ISO 8601 takes; the payload fits its schema already. */
export const writeSendAt = (payload: unknown): unknown => withMoment(payload as Fields, "sendAt");

/** The same for when an event happened. */
export const writeOccurredAt = (payload: unknown): unknown => withMoment(payload as Fields, "occurredAt");

/** The same for every event of a batch. */
export const writeBatch = (payload: unknown): unknown => {
  const { events, ...rest } = payload as { readonly events: readonly Fields[] };
  return { ...rest, events: events.map(writeOccurredAt) };
};
