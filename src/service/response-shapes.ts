import { isRecord } from "../runtime/values.ts";
import type { Asked } from "./define.ts";

type Fields = Record<string, unknown>;

// By its own type, the items would be `any`.
const isArray: (value: unknown) => value is unknown[] = Array.isArray;

const isNumber = (value: unknown): value is number => typeof value === "number";

const isId = (id: unknown): id is string | number => typeof id === "string" || isNumber(id);

/** Above 2^53, JSON.parse has already changed an id: it stays a number, and validation reports it. */
const textOf = (id: unknown): unknown => (Number.isSafeInteger(id) ? String(id) : id);

/**
 * Reads a documented record. Ids are strings, whatever type the service uses; a record whose ids are strings is not
 * copied.
 */
export const readRecord = (body: unknown): unknown => {
  if (!isRecord(body)) return body;
  const { id, contactId, leadId, listIds } = body;
  let read = body;
  if (typeof id === "number") read = { ...read, id: textOf(id) };
  if (typeof contactId === "number") read = { ...read, contactId: textOf(contactId) };
  if (typeof leadId === "number") read = { ...read, leadId: textOf(leadId) };
  return isArray(listIds) && listIds.some(isNumber) ? { ...read, listIds: listIds.map(textOf) } : read;
};

const defaultLimit = 50;

/** Fills in what the request asked for, if a page does not repeat it. */
const withAsked = (page: Fields, { payload }: Asked): Fields => {
  const { skip, limit }: { skip?: unknown; limit?: unknown } = Object(payload);
  return { ...page, skip: page.skip ?? skip ?? 0, limit: page.limit ?? limit ?? defaultLimit };
};

/** Reads a page of contacts. */
export const readContactPage = (body: unknown, asked: Asked): unknown =>
  isRecord(body) && isArray(body.data)
    ? withAsked({ ...body, data: body.data.map(readRecord) }, asked)
    : body;

/** Reads an event's receipt; `duplicate` is present only if it is true. */
export const readReceipt = (body: unknown): unknown => {
  const receipt = readRecord(body);
  return isRecord(receipt) ? { ...receipt, duplicate: receipt.duplicate ?? false } : receipt;
};

/** Reads the response to a batch. */
export const readBatch = (body: unknown): unknown =>
  isRecord(body) && isArray(body.results) ? { ...body, results: body.results.map(readRecord) } : body;

// From here on, the document names an operation without its response, so every plausible shape is accepted.

/** The first of these fields that holds an object. */
const nested = (body: Fields, ...names: readonly string[]): Fields | undefined =>
  names.map((name) => body[name]).find(isRecord);

const counts = ["total", "skip", "limit"] as const;

/** The counts of a page, beside its records or in their own object. */
const countsOf = (body: Fields): Fields => {
  const apart = nested(body, "meta", "pagination", "paging", "page") ?? {};
  const given = counts.map((name) => [name, body[name] ?? apart[name]] as const);
  return Object.fromEntries(given.filter(([, count]) => count !== undefined));
};

/** The records of a page: under a telling name, or the only array. */
const recordsOf = (body: Fields, names: readonly string[]): unknown[] | undefined => {
  const named = ["data", ...names, "items", "results", "records"].map((name) => body[name]).find(isArray);
  const arrays = Object.values(body).filter(isArray);
  return named ?? arrays.find((items) => items.some(isRecord)) ?? arrays[0];
};

/** Reads a page as documented, a bare array, an envelope, or records under another name. */
const anyPage =
  (one: (record: unknown) => unknown, ...names: readonly string[]) =>
  (body: unknown): unknown => {
    if (isArray(body)) return { data: body.map(one) };
    if (!isRecord(body)) return body;
    const envelope = isArray(body.data) ? undefined : nested(body, "data", "result");
    if (envelope !== undefined) {
      const inner = anyPage(one, ...names)(envelope);
      return isRecord(inner) ? { ...countsOf(body), ...inner } : inner;
    }
    const records = recordsOf(body, names);
    return records === undefined ? body : { ...body, ...countsOf(body), data: records.map(one) };
  };

/** Reads a record directly or from envelopes such as `{ data }` or `{ company }`; `id` ends up on the top level. */
const anyRecord = (...names: readonly string[]) => {
  const read = (body: unknown): unknown => {
    if (!isRecord(body)) return body;
    // An id on the top level belongs to the record, whatever else is nested in it.
    if (body.id !== undefined) return readRecord(body);
    const envelope = ["data", ...names, "result"].find((name) => isRecord(body[name]));
    if (envelope !== undefined) {
      const { [envelope]: inner, ...beside } = body;
      return read({ ...beside, ...Object(inner) });
    }
    const id = [...names.map((name) => `${name}Id`), "_id"].map((name) => body[name]).find(isId);
    return readRecord(id === undefined ? body : { ...body, id });
  };
  return read;
};

/** Reads the response to a change; one without an id, or without a body, gets the requested id. */
const changed =
  (read: (body: unknown) => unknown) =>
  (body: unknown, { id }: Asked): unknown => {
    const found = read(body) ?? {};
    return isRecord(found) && (found.id ?? undefined) === undefined ? { ...found, id } : found;
  };

/** Reads a company under `company`, `lead` or `data`; its id also as `companyId` or `leadId`. */
const readCompany = anyRecord("company", "lead");

const readPerson = anyRecord("contact");

export const readChangedCompany = changed(readCompany);

/** Reads the ids of a new company; those of its contacts as `contactIds` or from the records under `contacts`. */
export const readCompanyIds = (body: unknown): unknown => {
  const read = readCompany(body);
  if (!isRecord(read)) return read;
  const bare = [read.company, read.lead].find(isId);
  const flat = read.id === undefined && bare !== undefined ? { ...read, id: textOf(bare) } : read;
  const people = [flat.contactIds, flat.contacts].find(isArray);
  const ids = people?.map((contact) => {
    const person = readPerson(contact);
    return isRecord(person) ? person.id : person;
  });
  return ids?.every(isId) ? { ...flat, contactIds: ids.map(textOf) } : flat;
};

const readCompanyPage = anyPage(readCompany, "companies", "leads");

/** Reads the company found by its domain: a page, a bare array, a record, or an empty body. */
export const readCompanies = (body: unknown): unknown => {
  const company = readCompany(body);
  // A record first: its people, under `contacts`, are not a page of companies.
  if (isRecord(company) && company.id !== undefined) return { data: [company] };
  const page = readCompanyPage(body);
  return { data: isRecord(page) && isArray(page.data) ? page.data : [] };
};

/** Reads a list under `list` or `data`; its id also as `listId`. */
export const readList = anyRecord("list");

/** The objects with an id, on the top level or in up to three envelopes, outermost first. */
const withIds = (body: Fields, depth = 3): readonly Fields[] => [
  ...(body.id === undefined ? [] : [body]),
  ...(depth === 0 ? [] : Object.values(body).filter(isRecord)).flatMap((inner) => withIds(inner, depth - 1)),
];

/**
 * Reads a scheduled email on the top level or nested (`scheduled`, `email`, `data`, …): `id` ends up on the top level.
 */
export const readScheduledEmail = (body: unknown): unknown => {
  if (!isRecord(body)) return body;
  if (body.id !== undefined) return readRecord(body);
  const known = anyRecord("scheduledEmail", "email", "scheduled")(body);
  if (isRecord(known) && known.id !== undefined) return known;
  // Another record, for example a contact, may be nested beside it.
  const found = withIds(body);
  const inner = found.find(({ sendAt, status }) => sendAt !== undefined || status !== undefined) ?? found[0];
  return inner === undefined ? known : readRecord({ ...body, ...inner });
};

export const readChangedEmail = changed(readScheduledEmail);

const anyScheduledPage = anyPage(readScheduledEmail, "emails", "scheduled", "scheduledEmails");

/** Reads a page of scheduled emails, each as above. */
export const readScheduledPage = (body: unknown, asked: Asked): unknown => {
  const page = anyScheduledPage(body);
  return isRecord(page) ? withAsked(page, asked) : page;
};
