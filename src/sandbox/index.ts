export type { Clock } from "../runtime/clock.ts";
export type { SandboxControls, SeedContact } from "./controls.ts";
export { createSandbox, type Sandbox } from "./create-sandbox.ts";
export type {
  DelayFault,
  Fault,
  FaultName,
  FaultOptions,
  ItemsFault,
  PlannedFault,
  RedirectFault,
  StatusFault,
} from "./faults.ts";
export type { RequestCounts, RequestRecord } from "./journal.ts";
export type { MswHandlers } from "./msw.ts";
export {
  type ApiKeyOptions,
  type AutomationOptions,
  type CustomFieldKind,
  documentedLimits,
  type LimitKind,
  type LimitName,
  type LimitWindow,
  type Listening,
  type ListenOptions,
  type MailAccountChange,
  type MailAccountOptions,
  type Role,
  type SandboxLimits,
  type SandboxOptions,
  type WorkspaceChange,
  type WorkspaceOptions,
} from "./options.ts";
export type { SandboxState } from "./state.ts";
export type {
  CompanyRecord,
  ContactRecord,
  EmailDraft,
  EmailRecord,
  EventRecord,
  EventResponse,
  ListRecord,
  ScheduledRecord,
} from "./store/records.ts";
export type { Awaited, WaitFor, WaitOptions } from "./wait-for.ts";
