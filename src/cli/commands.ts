import type { CliCommand } from "./cli-command.ts";
import { contactsExport } from "./contacts-export.ts";
import { contactsImport } from "./contacts-import.ts";
import { doctor } from "./doctor.ts";
import { eventsIngest } from "./events-ingest.ts";
import { ledgerList, ledgerSettle, ledgerShow } from "./ledger.ts";
import { sandbox } from "./sandbox.ts";

/** All commands, in the order of the help. */
export const commands: readonly CliCommand[] = [
  sandbox,
  contactsExport,
  contactsImport,
  eventsIngest,
  ledgerList,
  ledgerShow,
  ledgerSettle,
  doctor,
];
