import { Refusal, type Reply } from "../answer.ts";
import { isArray } from "../json.ts";
import type { ListRecord } from "../store/records.ts";
import { addContact, changeContact, timestamp } from "../store/workspace.ts";
import { bodyFields, type Call, invalid, notFound, readAddress, readText } from "./call.ts";

const maxAddresses = 1_000;

/** Creates a list; its name is unique. */
export const createList = (call: Call): Reply => {
  const { workspace } = call;
  const name = readText(bodyFields(call).name, "name");
  if ([...workspace.lists.values()].some((list) => list.name === name)) {
    throw new Refusal(409, "Another list already has this name.");
  }
  const list: ListRecord = { id: workspace.services.newId("li"), name, createdAt: timestamp(workspace) };
  workspace.lists.set(list.id, list);
  return { status: 201, body: list };
};

const readMembers = (call: Call): ReadonlySet<string> => {
  if (!call.workspace.lists.has(call.id)) throw notFound("list");
  const { emails } = bodyFields(call);
  if (!isArray(emails) || emails.length === 0) throw invalid("emails", "must be an array of addresses");
  if (emails.length > maxAddresses) throw invalid("emails", `must have at most ${maxAddresses} addresses`);
  return new Set(emails.map((email, index) => readAddress(email, `emails[${index}]`)));
};

/** Adds people to a list; an unknown address becomes a contact. The answer is not documented. */
export const addToList = (call: Call): Reply => {
  const { workspace, id } = call;
  let added = 0;
  let created = 0;
  for (const email of readMembers(call)) {
    const contact = workspace.contacts.byEmail(email);
    if (contact?.listIds.includes(id)) continue;
    added += 1;
    if (contact === undefined) {
      created += 1;
      addContact(workspace, { email, listIds: [id] });
    } else changeContact(workspace, contact, { listIds: [...contact.listIds, id] });
  }
  return { status: 200, body: { added, created } };
};

/** Removes people from a list; they stay contacts. The answer is not documented. */
export const removeFromList = (call: Call): Reply => {
  const { workspace, id } = call;
  let removed = 0;
  for (const email of readMembers(call)) {
    const contact = workspace.contacts.byEmail(email);
    if (contact?.listIds.includes(id) !== true) continue;
    changeContact(workspace, contact, { listIds: contact.listIds.filter((listId) => listId !== id) });
    removed += 1;
  }
  return { status: 200, body: { removed } };
};
