import { isRecord } from "../../runtime/values.ts";
import { Refusal, type Reply } from "../answer.ts";
import { defined, type Fields, has, isArray } from "../json.ts";
import type { EventRecord, EventResponse } from "../store/records.ts";
import { addContact, changeContact, timestamp, type Workspace } from "../store/workspace.ts";
import { runAutomations } from "./automations.ts";
import {
  bodyFields,
  type Call,
  invalid,
  notFound,
  type Reader,
  readAddress,
  readFields,
  readFlag,
  readObject,
  readText,
  readTime,
} from "./call.ts";
import { readContactFields } from "./contacts.ts";

/** The sandbox's own value: the service document mentions a maximum, but no number. */
const maxPropertiesBytes = 32_768;

/** The property names that the service refuses: the three in its document, in lower case and without punctuation. */
const refusedNames = new Set(["password", "cardnumber", "ssn"]);

const assertHarmless = (value: unknown): void => {
  if (isArray(value)) value.forEach(assertHarmless);
  if (!isRecord(value)) return;
  for (const [name, inner] of Object.entries(value)) {
    if (refusedNames.has(name.toLowerCase().replace(/[^a-z0-9]/g, ""))) {
      throw invalid(`properties.${name}`, "looks like a secret and is refused");
    }
    assertHarmless(inner);
  }
};

const readPerson = (value: unknown): Fields => {
  if (value === undefined) throw invalid("contact", "is missing");
  const person = readObject(value, "contact");
  if (!["email", "externalId", "id"].some((field) => has(person, field))) {
    throw invalid("contact", "must have an email, an externalId or an id");
  }
  return person;
};

const readProperties: Reader<Fields> = (value, field) => {
  const properties = readObject(value, field);
  if (Buffer.byteLength(JSON.stringify(properties)) > maxPropertiesBytes)
    throw invalid(field, `is too big: at most ${maxPropertiesBytes} bytes of JSON`);
  assertHarmless(properties);
  return properties;
};

const eventReaders = {
  properties: readProperties,
  occurredAt: readTime,
  id: readText,
  contactFields: readObject,
  createContact: readFlag,
};

/** Reads the parts of an event that do not depend on the workspace. @throws Refusal 400 */
const readEvent = (value: unknown, now: number) => {
  if (!isRecord(value)) throw invalid("event", "must be a JSON object");
  const name = readText(value.name, "name");
  if (name.startsWith("service.")) throw invalid("name", "starts with the reserved prefix service.");
  const person = readPerson(value.contact);
  const fields = readFields(value, eventReaders);
  // `occurredAt` is in milliseconds since 1970.
  const { occurredAt = now } = fields;
  if (occurredAt > now) throw invalid("occurredAt", "is in the future");
  return { properties: {}, contactFields: {}, createContact: true, ...fields, name, person, occurredAt };
};

type EventDraft = ReturnType<typeof readEvent>;

const personReaders = { email: readAddress, externalId: readText, id: readText };

/**
 * Finds or creates the person of an event, saves their `externalId` and sets `contactFields`.
 *
 * @throws Refusal 400 for invalid values, 404 for an unknown `contact.id`, 409 when the identifiers belong to
 * different contacts.
 */
const settlePerson = (
  { person, contactFields, createContact }: EventDraft,
  workspace: Workspace,
): { readonly contactId?: string; readonly createdContact: boolean } => {
  const { contacts } = workspace;
  const { email, externalId, id } = readFields(person, personReaders, "contact.");
  if (id !== undefined && contacts.byId(id) === undefined) throw notFound("contact");
  const matches = [
    id && contacts.byId(id),
    email && contacts.byEmail(email),
    externalId && contacts.byExternalId(externalId),
  ].filter((contact) => typeof contact === "object");
  const [match] = matches;
  if (matches.some((contact) => contact !== match)) {
    throw new Refusal(409, "The email and the externalId belong to two different contacts.");
  }

  const fields = {
    ...readContactFields(contactFields, workspace, match, "contactFields."),
    ...defined({ externalId }),
  };
  if (match !== undefined) {
    if (Object.keys(fields).length > 0) changeContact(workspace, match, fields);
    return { contactId: match.id, createdContact: false };
  }
  // A person without an address cannot be created.
  if (email === undefined || !createContact) return { createdContact: false };
  return { contactId: addContact(workspace, { ...fields, email }).id, createdContact: true };
};

const record = (workspace: Workspace, event: EventDraft): EventResponse => {
  const person = settlePerson(event, workspace);
  const { contactId } = person;
  const { id: callerId, name, properties } = event;
  const id = workspace.services.newId("ev");
  const response = { id, name, duplicate: false, ...person, ...runAutomations(event, contactId, workspace) };
  const entry: EventRecord = {
    id,
    name,
    ...defined({ callerId, contactId }),
    properties,
    occurredAt: new Date(event.occurredAt).toISOString(),
    recordedAt: timestamp(workspace),
    repeats: 0,
    response,
  };
  workspace.events.push(entry);
  workspace.services.changed();
  if (callerId !== undefined) workspace.eventsById.set(callerId, entry);
  return response;
};

/** Records one event, or repeats the first answer if the id was recorded before. @throws Refusal 400, 404, 409 */
const recordOrRepeat = (workspace: Workspace, value: unknown): EventResponse => {
  const event = readEvent(value, workspace.services.clock.wallTime());
  const first = event.id === undefined ? undefined : workspace.eventsById.get(event.id);
  if (first === undefined) return record(workspace, event);
  first.repeats += 1;
  return { ...first.response, duplicate: true };
};

/** Records a single event: 202. */
export const recordEvent = (call: Call): Reply => ({
  status: 202,
  body: recordOrRepeat(call.workspace, bodyFields(call)),
});

const recordItem = ({ workspace, failing }: Call, value: unknown, index: number): object => {
  if (failing?.items.includes(index))
    return { status: failing.status ?? 500, error: "Planned fault: this item failed." };
  try {
    const { id, name, outcome, runsStarted, duplicate } = recordOrRepeat(workspace, value);
    // In a batch, the service writes `duplicate` only when it is true.
    return { status: 202, id, name, outcome, runsStarted, ...(duplicate && { duplicate }) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { status: error.status, error: error.message };
  }
};

/** Records 1 to 100 events, each on its own: 207. */
export const recordBatch = (call: Call): Reply => {
  const { events } = bodyFields(call);
  if (!isArray(events)) throw new Refusal(400, "events must be an array.");
  if (events.length < 1 || events.length > 100) {
    throw new Refusal(400, `events must contain 1 to 100 events, got ${events.length}.`);
  }
  const results = events.map((event, index) => recordItem(call, event, index));
  const accepted = results.filter((result) => "outcome" in result).length;
  return { status: 207, body: { accepted, rejected: results.length - accepted, results } };
};
