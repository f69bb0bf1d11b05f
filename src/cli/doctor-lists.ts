import { Contact } from "../index.ts";
import { contactFields } from "./contact-columns.ts";
import {
  type Answer,
  type Ask,
  type Fields,
  type Finding,
  isFields,
  kindOf,
  recordFaults,
  unknownFields,
} from "./doctor-probes.ts";

/** A page as documented. */
export interface RawPage {
  readonly data: readonly unknown[];
  readonly total: number;
}

const counts = ["total", "skip", "limit"] as const;

const shapeOf = (body: unknown): string => {
  if (body === undefined) return "no JSON";
  return isFields(body)
    ? `an object with ${Object.keys(body).sort().join(", ") || "no fields"}`
    : kindOf(body);
};

/** Reads a page, and reports where it differs from the document. */
export const readPage = (
  { status, body }: Answer,
  asked: { readonly skip: number; readonly limit: number },
): { readonly page: RawPage | undefined; readonly faults: readonly string[] } => {
  if (status !== 200) return { page: undefined, faults: [`answers ${status}`] };
  if (!isFields(body) || !Array.isArray(body.data))
    return { page: undefined, faults: [`answers ${shapeOf(body)}, not { data, total, skip, limit }`] };
  const { data, total } = body;
  const faults = counts.flatMap((name) =>
    typeof body[name] === "number" ? [] : [`${name} must be number, is ${kindOf(body[name])}`],
  );
  for (const name of ["skip", "limit"] as const)
    if (typeof body[name] === "number" && body[name] !== asked[name])
      faults.push(`asked for ${name} ${asked[name]}, the page says ${body[name]}`);
  if (typeof total !== "number") return { page: undefined, faults };
  const due = Math.max(0, Math.min(asked.limit, total - asked.skip));
  if (data.length !== due)
    faults.push(
      `of ${total} records, skip ${asked.skip} and limit ${asked.limit} give ${data.length} and not ${due}`,
    );
  return { page: { data, total }, faults };
};

const idsOf = (records: readonly unknown[]): unknown[] =>
  records.map((record) => (isFields(record) ? record.id : undefined));

const isSame = (left: readonly unknown[], right: readonly unknown[]): boolean =>
  left.length === right.length && left.every((id, index) => id === right[index]);

const isSorted = (values: readonly unknown[]): boolean =>
  values.every((value, index) => index === 0 || String(values[index - 1]) <= String(value));

/** The order of the records, as far as these records show it. */
const orderOf = (records: readonly Fields[]): string | undefined => {
  for (const name of ["createdAt", "updatedAt", "id", "email"]) {
    const values = records.map((record) => record[name]);
    if (new Set(values).size < 3) continue;
    if (isSorted(values)) return `${name}, ascending`;
    if (isSorted(values.toReversed())) return `${name}, descending`;
  }
  return undefined;
};

const largest = 200;
const usual = 50;
const path = "/api/v1/contacts";

/** Checks the list of contacts: its shape, its counts, its order and its search. */
export const examineContacts = async (ask: Ask): Promise<readonly Finding[]> => {
  const differing: string[] = [];
  const notes: string[] = [];
  const totals = new Set<number>();

  const pageAt = async (
    asked: { readonly skip: number; readonly limit: number },
    query: Parameters<Ask["get"]>[1],
  ) => {
    const { page, faults } = readPage(await ask.get(path, query), asked);
    differing.push(...faults);
    if (page !== undefined) totals.add(page.total);
    return page;
  };
  const findings = (): readonly Finding[] => {
    if (totals.size > 1)
      notes.push("the list changed meanwhile: what differs may come of that, run it again");
    const of = (level: Finding["level"]) => (text: string) => ({ operation: "contacts.list", level, text });
    return [...[...new Set(differing)].map(of("differs")), ...notes.map(of("note"))];
  };

  const all = { skip: 0, limit: largest };
  const first = await pageAt(all, all);
  if (first === undefined) return findings();
  const { data, total } = first;
  const ids = idsOf(data);
  differing.push(...recordFaults(data, Contact));
  const unknown = unknownFields(data, contactFields);
  if (unknown.length > 0) notes.push(`has fields that the document does not: ${unknown.join(", ")}`);
  if (new Set(ids).size < ids.length) differing.push("the same record comes twice in a page");
  if (data.length === 0) notes.push("holds no contact: shapes and order are not compared");

  const plain = await pageAt({ skip: 0, limit: usual }, {});
  if (plain !== undefined && !isSame(idsOf(plain.data), ids.slice(0, plain.data.length)))
    differing.push("the order changes from one request to the next");

  if (data.length > 1) {
    const half = { skip: data.length >> 1, limit: largest };
    const rest = await pageAt(half, half);
    const both = ids.slice(half.skip);
    if (rest !== undefined && !isSame(idsOf(rest.data).slice(0, both.length), both))
      differing.push("a page further on does not go on where the one before it ends");
    notes.push(`order: ${orderOf(data.filter(isFields)) ?? "by none of createdAt, updatedAt, id, email"}`);
  }
  if (total > 0) {
    const last = { skip: total - 1, limit: 2 };
    await pageAt(last, last);
  }
  const email = isFields(data[0]) ? data[0].email : undefined;
  if (typeof email === "string") {
    const { body } = await ask.get(path, { search: email, limit: largest });
    const found = isFields(body) && Array.isArray(body.data) ? body.data : [];
    if (!found.some((contact) => isFields(contact) && contact.email === email))
      differing.push("search does not find a contact by its email, as contacts.find and upsert need");
    else if (total > 1 && isFields(body) && body.total === total)
      differing.push("search finds every contact: it seems to be ignored");
  }
  return findings();
};
