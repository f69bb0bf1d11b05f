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
    file: "src/rate-limit/permit-cooldown.ts",
    text: "while (at > this.#first && (this.#entries[at - 1]?.until ?? 0) > until) at -= 1;",
    changes: [
      "at > this.#first → at >= this.#first",
      "(this.#entries[at - 1]?.until ?? 0) > until → (this.#entries[at - 1]?.until ?? 0) >= until",
    ],
    why: `${same}entries that cool at one moment leave together in any order, and what lies before the first has cooled.`,
  },
  {
    file: "src/rate-limit/permit-cooldown.ts",
    text: "while (at > this.#first && (this.#entries[at - 1]?.until ?? 0) > until) at -= 1;",
    changes: ["0 → 1"],
    why: "For the compiler: there is an entry before every place but the first.",
  },
  {
    file: "src/rate-limit/permit-cooldown.ts",
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
    file: "src/rate-limit/stage.ts",
    text: "this.#routes.set(key, route);",
    changes: ["left out: this.#routes.set(key, route);"],
    why: `${same}a route that is not remembered is made again, on the same lane and budgets; the memory saves the time.`,
  },
  {
    file: "src/rate-limit/shares.ts",
    text: "return this.#wanted[Math.min(most, this.#wanted.length - 1)] ?? 0;",
    changes: ["0 → 1"],
    why: "The list begins with one entry, and no place behind its last is asked for.",
  },
  {
    file: "src/rate-limit/shares.ts",
    text: "this.#wanted.push(Math.max(wanted, this.#wanted[nth - 1] ?? 0));",
    changes: ["0 → 1"],
    why: "Every request but the first has one before it in the list, and the first has the 0 that it begins with.",
  },
  {
    file: "src/rate-limit/shares.ts",
    text: "resources.filter(({ limit }) => limit.perMs > 0);",
    changes: ["0 → 1"],
    why: `${same}only what has no limit at all has a window of 1 ms, and it stops nobody.`,
  },
  {
    file: "src/rate-limit/shares.ts",
    text: "this.#on.set(resource, found);",
    changes: ["left out: this.#on.set(resource, found);"],
    why: `${same}what is not remembered is worked out again, at the same look; the memory saves the time.`,
  },
  {
    file: "src/rate-limit/queue.ts",
    text: "const isContended = of.resources.some((resource) => resource.waiters > 0);",
    changes: ["resource.waiters > 0 → resource.waiters >= 0"],
    why: `${same}who finds nobody in the line goes through it at once; the shortcut saves the way.`,
  },
  {
    file: "src/rate-limit/queue.ts",
    text: "#order = 0;",
    changes: ["0 → 1"],
    why: `${same}places are only compared with each other.`,
  },
  {
    file: "src/rate-limit/budget.ts",
    text: "if (this.#alarm !== undefined && this.#alarm.at <= at && this.#alarm.at > now) return;",
    changes: [
      "this.#alarm.at <= at → this.#alarm.at < at",
      "this.#alarm.at > now → this.#alarm.at >= now",
      "this.#alarm.at > now → this.#alarm.at <= now",
    ],
    why: `${same}a timer for the same moment is set anew or not, and one that fires too early wakes in vain.`,
  },
  {
    file: "src/rate-limit/idle-minimum.ts",
    text: "#leastBefore = 0;",
    changes: ["0 → 1"],
    why: `${same}it is only asked for with the least of the first stretch, which is 0.`,
  },
  {
    file: "src/rate-limit/daily-limit.ts",
    text: "if (weight < 0) return this.#takeBack(-weight);",
    changes: ["weight < 0 → weight <= 0", "0 → 1"],
    why: `${same}weights are whole, and a weight of 0 counts nothing and takes nothing back.`,
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
    changes: ["0 → 1"],
    why: `${same}what has been read is nothing, or a first line at least.`,
  },
  {
    file: "src/ledger/journal-file.ts",
    text: "#identity: Buffer = Buffer.alloc(0);",
    changes: ["0 → 1"],
    why: "It is looked at only once something was read, which sets it.",
  },
  {
    file: "src/ledger/journal-file.ts",
    text: "return true;",
    changes: ["true → false"],
    why: `${same}opened once more, the file has no seal any more.`,
  },
  {
    file: "src/ledger/file-ledger.ts",
    text: "this.#file = undefined;",
    changes: ["left out: this.#file = undefined;"],
    why: "After an exchange that failed: the name was looked up well before, and the file is recognised or read anew.",
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
    file: "src/bulk/resumable.ts",
    text: "for (const index of this.#lastItems.keys()) if (index < mark) this.#lastItems.delete(index);",
    changes: ["index < mark → index <= mark"],
    why: `${same}the item at the mark is unsettled, and so is no last item of a batch that is through.`,
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
