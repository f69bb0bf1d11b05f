/**
 * What the service document names without giving its path or method, and what of it is inferred. `routes` corrects a
 * path; the answers are read leniently.
 */
export const inferred: Readonly<Record<string, string>> = {
  "companies.create": "path and method",
  "companies.findByDomain": "path, method and answer",
  "lists.create": "path and method",
  "emails.scheduled.list": "method and answer",
  "emails.scheduled.update": "method, body and answer",
  "emails.scheduled.cancel": "method and answer",
};
