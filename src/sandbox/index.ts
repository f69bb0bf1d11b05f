export type { Clock } from "../runtime/clock.ts";
export type { SandboxControls, SeedContact } from "./controls.ts";
export { createSandbox, type Sandbox } from "./create-sandbox.ts";
export type {
  Fault,
  FaultName,
  FaultOptions,
  ItemsFault,
  PlannedFault,
  RedirectFault,
  StatusFault,
} from "./faults.ts";
export type { RequestCounts, RequestRecord } from "./journal.ts";
export { documentedLimits, type LimitName, type SandboxLimits } from "./limits.ts";
export type { MswHandlers } from "./msw.ts";
export type {
  ApiKeyOptions,
  AutomationOptions,
  CustomFieldKind,
  LatencyOptions,
  Listening,
  ListenOptions,
  MailAccountChange,
  MailAccountOptions,
  Role,
  SandboxOptions,
  WorkspaceOptions,
} from "./options.ts";
export type { SandboxState } from "./state.ts";
export type {
  CompanyRecord,
  ContactRecord,
  EmailDraft,
  EmailRecord,
  EventAnswer,
  EventRecord,
  ListRecord,
  ScheduledRecord,
} from "./store/records.ts";
export type { LimitKind, LimitWindow } from "./window.ts";
