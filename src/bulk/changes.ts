import type { CallScope } from "../call/scope.ts";
import { ConfigurationError, ResponseValidationError } from "../errors.ts";
import { callRules } from "../options/validation.ts";
import { type PagingOptions, paged } from "../paging/paged.ts";
import { isCallback, must, type Rules, refuseFaults, ruleFaults } from "../runtime/rules.ts";
import { isRecord } from "../runtime/values.ts";
import type { Contact } from "../service/contacts.ts";
import { operations } from "../service/operations.ts";
import type { ChangesOptions, ContactChange } from "./changes-options.ts";
import { Pass } from "./changes-pass.ts";
import { ProgressReporter } from "./progress.ts";

const operation = "contacts.changes";

const rules: Rules = {
  ...callRules,
  snapshot: must("the path of a snapshot", (value) => typeof value === "string" && value !== ""),
  search: must("a text", (value) => typeof value === "string"),
  onProgress: isCallback,
};

/**
 * The changes of a list since a snapshot, by pages. A page counts as taken when the next one is requested; until then,
 * the next run yields it again.
 */
export async function* changedContacts(
  options: ChangesOptions,
  call: CallScope,
): AsyncGenerator<readonly ContactChange[]> {
  // Unlike the others, this option has no default.
  const given = { ...options, snapshot: options.snapshot ?? "" };
  refuseFaults(operation, ruleFaults(given, rules));
  const { snapshot, search, onProgress, ...callOptions } = options;
  const query = search === undefined ? {} : { search };
  const pass = new Pass(snapshot);
  const progress = new ProgressReporter(onProgress, undefined, call.clock);
  const scope = call.long(operation, { waits: progress });
  const list = (from: PagingOptions) =>
    paged(scope, operations.contacts.list, query, { ...callOptions, ...from }).pages();
  try {
    await pass.begin(query);
    if (pass.size > 0) await refuseForeign(pass, list({ prefetch: 0 }), snapshot);
    progress.skip(pass.seen);
    let done = pass.seen;
    for await (const { data, total, cursor } of list({ cursor: pass.cursor })) {
      const compared = data.filter(isRecord).map((contact) => pass.compare(contact));
      const changes = compared.flatMap(({ change }) => change ?? []);
      // Before it is yielded: a contact that is gone in the next run is then yielded as removed.
      await pass.write(
        { pending: cursor ?? "" },
        compared.map(({ stored }) => stored),
      );
      if (changes.length > 0) yield changes;
      await pass.write({ committed: true });
      done += data.length;
      progress.total = total;
      progress.update(done);
    }
    for (const changes of pass.removed()) yield changes;
    await pass.finish();
    progress.update(done, true);
  } catch (error) {
    // If the list cannot be read from its cursor, the next run could not read it either.
    if (error instanceof ResponseValidationError) await pass.write({ restart: true });
    throw error;
  } finally {
    progress.stop();
    await pass.close();
  }
}

/** A key does not say its workspace; only the contacts identify it. */
const refuseForeign = async (
  pass: Pass,
  pages: AsyncIterable<{ readonly data: readonly Contact[] }>,
  since: string,
): Promise<void> => {
  for await (const { data } of pages)
    if (data.some((contact) => isRecord(contact) && pass.knows(String(contact.id)))) return;
  throw new ConfigurationError(
    `snapshot ${since} is of another workspace: none of its ${pass.size} contacts is in the list; if they were all removed, delete it to start over`,
  );
};
