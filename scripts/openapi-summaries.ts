/** What an operation does and answers, in a sentence each. */
interface Summary {
  readonly does: string;
  readonly answer: string;
}

const unsaid = "What comes back is not documented.";

/** What each resource is, by its name in `operations`. */
export const resources: Readonly<Record<string, string>> = {
  contacts: "People.",
  companies: "Companies, called leads in scope names and in `leadId`.",
  lists: "Named groups of contacts.",
  events: "What people did; events start, resume and stop automations.",
  emails: "One email to one person, now or later.",
};

/** By the id of the operation. */
export const summaries: Readonly<Record<string, Summary>> = {
  "contacts.create": { does: "Create a contact.", answer: "The contact." },
  "contacts.list": { does: "List contacts.", answer: "One page of contacts." },
  "contacts.update": { does: "Change the fields sent of a contact.", answer: "The updated contact." },
  "companies.create": {
    does: "Create a company with its people, or update the one with the same domain.",
    answer: "The ids.",
  },
  "companies.update": { does: "Update a company.", answer: unsaid },
  "companies.findByDomain": { does: "Find a company by its domain.", answer: "The companies that match." },
  "lists.create": { does: "Create a list.", answer: "The list." },
  "lists.addContacts": { does: "Add people to a list; unknown ones become contacts.", answer: unsaid },
  "lists.removeContacts": { does: "Remove people from a list.", answer: unsaid },
  "events.record": { does: "Record that a person did something.", answer: "What became of the event." },
  "events.recordBatch": {
    does: "Record 1 to 100 events, each on its own.",
    answer: "A result per event, in the order sent.",
  },
  "emails.send": { does: "Send one email to one person now.", answer: "The sent email." },
  "emails.schedule": {
    does: "Keep one email to one person until sendAt.",
    answer: "The scheduled email; it may come nested beside `scheduled: true`.",
  },
  "emails.scheduled.list": { does: "List scheduled emails.", answer: "One page of scheduled emails." },
  "emails.scheduled.update": { does: "Change a scheduled email.", answer: "The scheduled email." },
  "emails.scheduled.cancel": { does: "Cancel a scheduled email.", answer: unsaid },
};
