/** One sentence about what an operation does, and one about its response. */
interface Summary {
  readonly does: string;
  readonly answer: string;
}

const undocumented = "The response is not documented.";

/** A description of each resource, by its name in `operations`. */
export const resources: Readonly<Record<string, string>> = {
  contacts: "People.",
  companies: "Companies, called leads in scope names and in `leadId`.",
  lists: "Named groups of contacts.",
  events: "What people did; events start, resume and stop automations.",
  emails: "One email to one person, now or later.",
};

/** The summaries of all operations, by their ids. */
export const summaries: Readonly<Record<string, Summary>> = {
  "contacts.create": { does: "Create a contact.", answer: "The contact." },
  "contacts.list": { does: "List contacts.", answer: "One page of contacts." },
  "contacts.update": { does: "Change the given fields of a contact.", answer: "The updated contact." },
  "companies.create": {
    does: "Create a company with its people, or update the one with the same domain.",
    answer: "The ids.",
  },
  "companies.update": { does: "Update a company.", answer: undocumented },
  "companies.findByDomain": { does: "Find a company by its domain.", answer: "The companies that match." },
  "lists.create": { does: "Create a list.", answer: "The list." },
  "lists.addContacts": { does: "Add people to a list; unknown ones become contacts.", answer: undocumented },
  "lists.removeContacts": { does: "Remove people from a list.", answer: undocumented },
  "events.record": { does: "Record that a person did something.", answer: "The outcome of the event." },
  "events.recordBatch": {
    does: "Record 1 to 100 events. Each event is accepted or rejected by itself.",
    answer: "A result per event, in the order sent.",
  },
  "emails.send": { does: "Send one email to one person now.", answer: "The sent email." },
  "emails.schedule": {
    does: "Schedule one email to one person for sendAt.",
    answer: "The scheduled email. It may be nested next to `scheduled: true`.",
  },
  "emails.scheduled.list": { does: "List scheduled emails.", answer: "One page of scheduled emails." },
  "emails.scheduled.update": { does: "Change a scheduled email.", answer: "The scheduled email." },
  "emails.scheduled.cancel": { does: "Cancel a scheduled email.", answer: undocumented },
};
