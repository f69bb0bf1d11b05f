import { describe } from "vitest";
import { fileLedger } from "../../../src/ledger/file-ledger.ts";
import { memoryLedger } from "../../../src/ledger/memory-ledger.ts";
import { keepsTheRules } from "../../support/ledger-rules.ts";
import { scratchFile } from "./scratch-file.ts";

describe("a ledger in memory", () => keepsTheRules(() => memoryLedger()));
describe("a ledger in a file", () => keepsTheRules(() => fileLedger(scratchFile())));
