export type { Answer, ResponseInfo, WithResponse } from "./answer.ts";
export type { BatchItemResult } from "./batch/batch-answer.ts";
export type { Addresses, MembersReport } from "./batch/change-members.ts";
export type { BatchReport } from "./batch/record-batch.ts";
export type { Recorder } from "./batch/recorder.ts";
export type { DroppedEvent, RecorderOptions } from "./batch/recorder-options.ts";
export type { CallTrace } from "./call.ts";
export { Client } from "./client.ts";
export * from "./errors.ts";
export type { FreeRequest } from "./free-request.ts";
export type { AttemptTrace } from "./http/observe.ts";
export type { Checkpoint, CheckpointStore, ListProgress } from "./ingest/checkpoint.ts";
export type { ImportedContact, ImportOptions, ImportReport, RejectedContact } from "./ingest/import.ts";
export type { IngestReport } from "./ingest/ingest.ts";
export type { IngestOptions, RejectedEvent } from "./ingest/ingest-options.ts";
export type { Progress } from "./ingest/progress.ts";
export type { Source as InputSource } from "./ingest/resumable.ts";
export { type FileLedgerOptions, fileLedger } from "./ledger/file-ledger.ts";
export type { Claim, Ledger, SettleDetails, Settlement } from "./ledger/ledger.ts";
export { memoryLedger } from "./ledger/memory-ledger.ts";
export type { BudgetState, Limit, Limits } from "./limits.ts";
export type { Logger, LogLevel } from "./log.ts";
export type {
  AttemptNotice,
  Hooks,
  ResponseNotice,
  RetryNotice,
  ValidationNotice,
  WaitNotice,
} from "./notices.ts";
export type { CallOptions, ClientOptions, Dispatcher, Fetch, KeySource } from "./options.ts";
export type { Paged, PagingOptions } from "./paging/paged.ts";
export type { WalkedPage } from "./paging/walk.ts";
export type { Companies } from "./resources/companies.ts";
export type { Contacts, Upserted } from "./resources/contacts.ts";
export type { Emails, ScheduledEmails, SendOptions } from "./resources/emails.ts";
export type { Events } from "./resources/events.ts";
export type { Lists } from "./resources/lists.ts";
export type { Page, Schema } from "./schemas/common.ts";
export { Company, CompanyCreated, CompanyInput, CompanyPatch, CompanyPerson } from "./schemas/company.ts";
export { Contact, ContactInput, ContactPatch, ContactQuery, Source, Stage } from "./schemas/contact.ts";
export {
  type BelongsIntoTheOptions,
  type EmailContent,
  EmailInput,
  type OnlyForEmailsSchedule,
  ScheduledEmail,
  ScheduledEmailInput,
  ScheduledEmailPatch,
  ScheduledEmailQuery,
  ScheduledStatus,
  SentEmail,
} from "./schemas/email.ts";
export {
  EventContact,
  EventInput,
  EventOutcome,
  EventReceipt,
} from "./schemas/event.ts";
export type { FreeFields, ReadableFields } from "./schemas/free-fields.ts";
export { List, ListInput } from "./schemas/list.ts";
export type { SharedLimits } from "./sharing.ts";
export type {
  ContactInputOf,
  ContactOf,
  ContactPatchOf,
  GivenContact,
  OpenFields,
  TypedContactInput,
  TypedContactPatch,
} from "./workspace/contact-types.ts";
export type {
  EventName,
  EventOf,
  EventSchemas,
  EventWith,
  EventWithOptional,
  GivenEvent,
  OpenEvent,
  OpenEvents,
  RefusedPropertyName,
  ReservedEventName,
} from "./workspace/event-types.ts";
export type { StandardSchema } from "./workspace/standard-schema.ts";
