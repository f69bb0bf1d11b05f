export type { BatchItemResult, RecordedResult, RefusedResult, UnknownResult } from "./batch/batch-answer.ts";
export type { Addresses, MembersReport } from "./batch/change-members.ts";
export type { BatchReport } from "./batch/record-batch.ts";
export type { Recorder } from "./batch/recorder.ts";
export type { DroppedEvent, OutcomeOfEvent, RecorderOptions } from "./batch/recorder-options.ts";
export type { ChangesOptions, ContactChange, ContactChanges } from "./bulk/changes-options.ts";
export type { ForecastOptions, IngestForecast } from "./bulk/forecast.ts";
export type * from "./bulk/import-options.ts";
export type * from "./bulk/ingest-options.ts";
export type { Progress } from "./bulk/progress.ts";
export type { InputSource } from "./bulk/source-run.ts";
export type { SourcePlace, WorkOptions } from "./bulk/work-options.ts";
export type { ApiPromise, ResponseInfo, WithResponse } from "./call/api-promise.ts";
export type { RawRequest } from "./call/raw-request.ts";
export { type AnyClient, Client, type CloseOptions } from "./client.ts";
export * from "./errors.ts";
export { fileLedger } from "./ledger/file-ledger.ts";
export type {
  ClaimDetails,
  ClaimLedger,
  Ledger,
  LedgerClaim,
  LedgerFilter,
  LedgerRow,
  SettleDetails,
  Settlement,
  TakenKey,
} from "./ledger/ledger.ts";
export { memoryLedger } from "./ledger/memory-ledger.ts";
export type { CloseReport } from "./lifecycle.ts";
export type { RecipientOptions, RecipientRule } from "./options/email-guards.ts";
export type { Dispatcher, Fetch, FetchInit, FetchResponse } from "./options/fetch.ts";
export type {
  AttemptNotice,
  AttemptTrace,
  CallTrace,
  Hooks,
  ResponseNotice,
  RetryNotice,
  ValidationNotice,
  WaitNotice,
} from "./options/hooks.ts";
export type { BudgetState, Limit, LimitScopes, Limits } from "./options/limits.ts";
export type { Logger, LogLevel } from "./options/logger.ts";
export type { CallOptions, ClientOptions, KeySource } from "./options/options.ts";
export type { SharedLimits } from "./options/shared-limits.ts";
export { mockResponse } from "./paging/mock-response.ts";
export type { Paged, PagingOptions } from "./paging/paged.ts";
export type { WalkedPage } from "./paging/walk.ts";
export type { Companies } from "./resources/companies.ts";
export type { Contacts, UpsertResult } from "./resources/contacts.ts";
export type { Emails, ScheduledEmails, SendOptions } from "./resources/emails.ts";
export type { AnyEvents, Events } from "./resources/events.ts";
export type { Lists } from "./resources/lists.ts";
export type { Checkpoint, CheckpointStore } from "./runtime/checkpoint.ts";
export type { MomentInput, TemporalMoment } from "./runtime/moments.ts";
export type { StandardSchema } from "./runtime/standard-schema.ts";
export type { FreeFields, Page, ReadableFields, Schema, SchemaFault } from "./service/common.ts";
export type { CompanyContact, CompanyCreated, CompanyPerson } from "./service/companies.ts";
export { Company, CompanyInput, CompanyPatch } from "./service/companies.ts";
export type { ContactQuery, ContactSource, ContactStage, ContactUpsert } from "./service/contacts.ts";
export { Contact, ContactInput, ContactPatch, isSendRefused, refusedStages } from "./service/contacts.ts";
export type { Scope } from "./service/define.ts";
export type {
  DryRunRequest,
  EmailContent,
  EmailFields,
  ScheduledEmailQuery,
  ScheduledEmailUpdated,
  ScheduledStatus,
  SentEmail,
} from "./service/emails.ts";
export { EmailInput, ScheduledEmail, ScheduledEmailInput, ScheduledEmailPatch } from "./service/emails.ts";
export type { EventContact, EventFields, EventOutcome, EventReceipt } from "./service/events.ts";
export { EventInput } from "./service/events.ts";
export type { List } from "./service/lists.ts";
export { ListInput } from "./service/lists.ts";
export type * from "./workspace/contact-types.ts";
export type {
  EventName,
  EventOf,
  EventSchemas,
  EventWith,
  EventWithOptional,
  GivenEvent,
  OpenEvent,
  OpenEvents,
} from "./workspace/event-types.ts";
export type { UnknownFields } from "./workspace/workspace.ts";
