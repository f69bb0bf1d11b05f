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
export type { SandboxLimits } from "./limits.ts";
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
  WorkspaceChange,
  WorkspaceOptions,
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
export { documentedLimits, type LimitKind, type LimitName, type LimitWindow } from "./window.ts";
