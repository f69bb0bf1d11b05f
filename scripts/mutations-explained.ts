/** Why a mutant that no test finds is none that one has to find. */
export interface Explained {
  readonly file: string;
  /** The line as it stands in the file. */
  readonly text: string;
  /** Of the mutants on this line, as `npm run mutations` prints them. */
  readonly changes: readonly string[];
  readonly why: string;
}

const same = "The two come to the same: ";

/** The survivors, in the order of the files. */
export const explained: readonly Explained[] = [
  {
    file: "src/http/retry-policy.ts",
    text: "const status = failure.response?.status ?? 0;",
    changes: ["0 → 1"],
    why: `${same}neither is a status, and a failure of kind \`status\` always has an answer.`,
  },
  {
    file: "src/http/retry.ts",
    text: "const isSuccess = (status: number): boolean => status >= 200 && status < 300;",
    changes: ["status < 300 → status <= 300", "300 → 301"],
    why: "The transport refuses every status from 300 to 399 as a redirect, before it comes here.",
  },
  {
    file: "src/http/retry.ts",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a line of code.
    text: 'throw new AttemptFailure("status", `status ${status}`, { wasSent: true, response });',
    changes: ["true → false"],
    why: "Of an attempt that was answered nobody asks whether it was sent; the status says more.",
  },
  {
    file: "src/http/retry.ts",
    text: "if (!(failure instanceof AttemptFailure)) return false;",
    changes: ["false → true"],
    why: "A guard for the compiler: the loop makes an AttemptFailure of whatever is none.",
  },
  {
    file: "src/http/retry.ts",
    text: "if (verdict.waitMs > 0 && !this.#isClosed) {",
    changes: ["0 → 1"],
    why: "A wait of up to a millisecond is made or not.",
  },
  {
    file: "src/http/window.ts",
    text: "while (at > this.#first && (this.#entries[at - 1]?.until ?? 0) > until) at -= 1;",
    changes: [
      "at > this.#first → at >= this.#first",
      "(this.#entries[at - 1]?.until ?? 0) > until → (this.#entries[at - 1]?.until ?? 0) >= until",
    ],
    why: `${same}entries that cool at one moment leave together in any order, and what lies before the first has cooled.`,
  },
  {
    file: "src/http/window.ts",
    text: "while (at > this.#first && (this.#entries[at - 1]?.until ?? 0) > until) at -= 1;",
    changes: ["0 → 1"],
    why: "For the compiler: there is an entry before every place but the first.",
  },
  {
    file: "src/http/window.ts",
    text: "if (this.#first > 1_000 && this.#first * 2 > this.#entries.length) {",
    changes: [
      "this.#first > 1_000 && this.#first * 2 > this.#entries.length → this.#first > 1_000 || this.#first * 2 > this.#entries.length",
      "this.#first > 1_000 → this.#first >= 1_000",
      "this.#first > 1_000 → this.#first <= 1_000",
      "1_000 → 1001",
      "this.#first * 2 > this.#entries.length → this.#first * 2 >= this.#entries.length",
      "this.#first * 2 > this.#entries.length → this.#first * 2 <= this.#entries.length",
      "this.#first * 2 → this.#first / 2",
      "2 → 3",
    ],
    why: `${same}when the entries that have cooled are thrown away is a matter of memory.`,
  },
  {
    file: "src/http/claims.ts",
    text: "if (other.order > order || demands.length === mostLookedAt) break;",
    changes: ["other.order > order → other.order >= order"],
    why: "No two requests have the same place in the order.",
  },
  {
    file: "src/http/lanes.ts",
    text: "#order = 0;",
    changes: ["0 → 1"],
    why: `${same}places are only compared with each other.`,
  },
  {
    file: "src/http/lanes.ts",
    text: "if (waiter !== undefined && (first === undefined || waiter.order < first.waiter.order))",
    changes: ["waiter.order < first.waiter.order → waiter.order <= first.waiter.order"],
    why: "No two requests have the same place in the order.",
  },
  {
    file: "src/http/budget.ts",
    text: "if (this.#alarm !== undefined && this.#alarm.at <= at && this.#alarm.at > now) return;",
    changes: [
      "this.#alarm.at <= at → this.#alarm.at < at",
      "this.#alarm.at > now → this.#alarm.at >= now",
      "this.#alarm.at > now → this.#alarm.at <= now",
    ],
    why: `${same}a timer for the same moment is set anew or not, and one that fires too early wakes in vain.`,
  },
  {
    file: "src/http/day-count.ts",
    text: "if (weight < 0) return this.#takeBack(-weight);",
    changes: ["weight < 0 → weight <= 0", "0 → 1"],
    why: `${same}weights are whole, and a weight of 0 counts nothing and takes nothing back.`,
  },
  {
    file: "src/ledger/compact.ts",
    text: "const isSuccessor = name.startsWith(before) && name.endsWith(after);",
    changes: [
      "name.startsWith(before) && name.endsWith(after) → name.startsWith(before) || name.endsWith(after)",
    ],
    why: "The length of the name is compared as well, and would have to be that of the ledger's and an id.",
  },
  {
    file: "src/ledger/compact.ts",
    text: "await rm(join(dirname(path), name), { force: true });",
    changes: ["true → false"],
    why: "Two processes would have to sweep the same file within microseconds.",
  },
  {
    file: "src/ledger/compact.ts",
    text: "await rm(successor, { force: true });",
    changes: ["left out: await rm(successor, { force: true });", "true → false"],
    why: "Whoever uses the ledger next takes it away as well; this is only sooner.",
  },
  {
    file: "src/ledger/compact.ts",
    text: "await next.sync();",
    changes: ["left out: await next.sync();"],
    why: "It matters when the power is cut, which no test does.",
  },
  {
    file: "src/ledger/compact.ts",
    text: "await syncDirectoryOf(ledger.path);",
    changes: ["left out: await syncDirectoryOf(ledger.path);"],
    why: "It matters when the power is cut, which no test does.",
  },
  {
    file: "src/ledger/compact.ts",
    text: "await next.close();",
    changes: ["left out: await next.close();"],
    why: "Node closes what is forgotten when it collects garbage, and warns; only the number of open files would tell.",
  },
  {
    file: "src/ledger/journal-file.ts",
    text: "await file.close();",
    changes: ["left out: await file.close();"],
    why: "Node closes what is forgotten when it collects garbage, and warns; only the number of open files would tell.",
  },
  {
    file: "src/ledger/journal-file.ts",
    text: "await file.sync();",
    changes: ["left out: await file.sync();"],
    why: "It matters when the power is cut, which no test does.",
  },
  {
    file: "src/ledger/journal-file.ts",
    text: "await syncDirectoryOf(this.path);",
    changes: ["left out: await syncDirectoryOf(this.path);"],
    why: "It matters when the power is cut, which no test does.",
  },
  {
    file: "src/ledger/journal-file.ts",
    text: "const bytesOfIdentity = 160;",
    changes: ["160 → 161"],
    why: "The id lies within the first 160 bytes; one more changes nothing.",
  },
  {
    file: "src/ledger/journal-file.ts",
    text: "if (this.#offset > 0 && identity.equals(this.#identity)) return;",
    changes: ["this.#offset > 0 → this.#offset >= 0", "this.#offset > 0 → this.#offset <= 0", "0 → 1"],
    why: `${same}a file that is not recognised is read from its beginning, and its records mean the same a second time.`,
  },
  {
    file: "src/ledger/journal-file.ts",
    text: "await file.read(identity, 0, identity.length, 0);",
    changes: ["left out: await file.read(identity, 0, identity.length, 0);"],
    why: `${same}a file that is not recognised is read from its beginning, and its records mean the same a second time.`,
  },
  {
    file: "src/ledger/journal-file.ts",
    text: "this.#offset += whole.length;",
    changes: ["left out: this.#offset += whole.length;"],
    why: `${same}what is read a second time means the same; the offset only spares the reading.`,
  },
  {
    file: "src/ledger/journal-file.ts",
    text: "const { bytesRead } = await file.read(fresh, filled, fresh.length - filled, this.#offset + filled);",
    changes: [
      "fresh.length - filled → fresh.length + filled",
      "this.#offset + filled → this.#offset - filled",
    ],
    why: "A read of a small local file brings all of it at once, so that `filled` is 0.",
  },
  {
    file: "src/ledger/journal-file.ts",
    text: 'if (bytesRead === 0) throw new Error("it became shorter while it was read");',
    changes: ["0 → 1"],
    why: "A file of which one byte comes would have to be cut at that very moment.",
  },
  {
    file: "src/ledger/journal-file.ts",
    text: "if (isFirst) this.#identity = Buffer.from(whole.subarray(0, bytesOfIdentity));",
    changes: ["isFirst → true", "0 → 1"],
    why: `${same}a file that is not recognised is read from its beginning, and its records mean the same a second time.`,
  },
  {
    file: "src/ledger/journal-file.ts",
    text: "#identity: Buffer = Buffer.alloc(0);",
    changes: ["0 → 1"],
    why: "It is looked at only once something was read, which sets it.",
  },
  {
    file: "src/ledger/journal-file.ts",
    text: 'const whole = fresh.subarray(0, fresh.lastIndexOf("\\n") + 1);',
    changes: ["0 → 1", "1 → 0"],
    why: "What is left out is a line break before or behind the records, and it is read again next time.",
  },
  {
    file: "src/ledger/journal-file.ts",
    text: "return true;",
    changes: ["true → false"],
    why: `${same}opened once more, the file has no seal any more.`,
  },
  {
    file: "src/ledger/journal-file.ts",
    text: "if (isMissingFile(error)) return false;",
    changes: ["isMissingFile(error) → true"],
    why: `${same}opened once more, the file fails in the same way.`,
  },
  {
    file: "src/ledger/file-ledger.ts",
    text: "this.#file ??= this.#open();",
    changes: ["this.#file ??= this.#open() → this.#file = this.#open()"],
    why: `${same}opened anew, the file is read anew; only the reading is spared.`,
  },
  {
    file: "src/ledger/file-ledger.ts",
    text: "this.#file = undefined;",
    changes: ["left out: this.#file = undefined;"],
    why: `${same}a file that is not recognised is read from its beginning, whoever opens it.`,
  },
  {
    file: "src/ledger/file-ledger.ts",
    text: "const { compactAfter = 1_000 } = given;",
    changes: ["1_000 → 1001"],
    why: "When a file is shortened by itself is a matter of cost.",
  },
  {
    file: "src/paging/paged.ts",
    text: "let at = 0;",
    changes: ["0 → 1"],
    why: `${same}before the first page there is no record, and each page sets it.`,
  },
  {
    file: "src/paging/recent.ts",
    text: "#next = 0;",
    changes: ["0 → 1"],
    why: `${same}ages and order are told from the differences of places.`,
  },
  {
    file: "src/paging/standstill.ts",
    text: '#before = { skip: 0, page: "", total: 0 };',
    changes: ["0 → 1"],
    why: `${same}the first page is compared with none, and no page reads as the empty one does.`,
  },
  {
    file: "src/paging/standstill.ts",
    text: "#unchanged = 0;",
    changes: ["0 → 1"],
    why: `${same}the first page, which is like none before it, sets it.`,
  },
  {
    file: "src/paging/standstill.ts",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a line of code.
    text: "const now = { skip, page: `${markOf(data[0])} ${data.length} ${markOf(data.at(-1))}`, total: total ?? 0 };",
    changes: ["0 → 1"],
    why: "Of the total, where none is told: only a service that counts one record, and at times none, would show it.",
  },
  {
    file: "src/paging/walk.ts",
    text: "#farthest = 0;",
    changes: ["0 → 1"],
    why: "Only the largest end counts, and a search that ends at the first record needs no thousand tries.",
  },
  {
    file: "src/batch/change-members.ts",
    text: "if (this.#calls > 1 || done.length > 0) {",
    changes: ["0 → 1"],
    why: "A request of one address is the last one: once it has gone through, nothing is left to fail.",
  },
  {
    file: "src/batch/until-aborted.ts",
    text: "let hasEnded = false;",
    changes: ["false → true"],
    why: "For the compiler: whatever leaves the loop has set it, an item, an end or an error.",
  },
  {
    file: "src/paging/walk.ts",
    text: "this.#drift.missed(this.#search === undefined ? this.#position - request.skip : 0);",
    changes: ["0 → 1"],
    why: `${same}only the largest counts, and the miss that began the search told one at least.`,
  },
  {
    file: "src/paging/walk.ts",
    text: 'until: typeof total === "number" ? total : 0,',
    changes: ["0 → 1"],
    why: `${same}behind a page that is not the last, the position is 1 at least.`,
  },
];
