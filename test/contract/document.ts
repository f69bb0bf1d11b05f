import { conditionSections } from "./document-conditions.ts";
import { emailSections } from "./document-emails.ts";
import { endpointSections } from "./document-endpoints.ts";
import { eventSections } from "./document-events.ts";
import { limitSections } from "./document-limits.ts";
import { resourceSections } from "./document-resources.ts";
import type { Section } from "./document-statement.ts";

/** Every sentence, row, rule, status, limit and field of the service document, by hand, in our own short words. */
export const serviceDocument: readonly Section[] = [
  ...resourceSections,
  ...eventSections,
  ...emailSections,
  ...endpointSections,
  ...conditionSections,
  ...limitSections,
];
