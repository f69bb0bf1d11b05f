import { ConfigurationError, ResponseValidationError, ValidationError } from "../errors.ts";
import { callFaults } from "../options/validation.ts";
import { isRecord, unknownKeys } from "../runtime/values.ts";
import type { Contact } from "../service/contacts.ts";
import type { ChangesContext, ChangesOptions, ContactChange } from "./changes-options.ts";
import { Pass } from "./changes-pass.ts";
import { ProgressReporter } from "./progress.ts";
import { WaitTracker } from "./waits.ts";

const operation = "contacts.changes";

const check = (options: ChangesOptions): void => {
  const known = ["snapshot", "search", "onProgress", "signal", "timeoutMs", "totalTimeoutMs", "maxWaitMs"];
  const faults = [
    ...unknownKeys(options, [...known, "maxRetries", "priority", "headers"]),
    ...callFaults(options),
  ];
  const { snapshot, search, onProgress }: { [K in keyof ChangesOptions]?: unknown } = options;
  if (typeof snapshot !== "string" || snapshot === "") faults.push("snapshot must be the path of a snapshot");
  if (search !== undefined && typeof search !== "string") faults.push("search must be a text");
  if (onProgress !== undefined && typeof onProgress !== "function")
    faults.push("onProgress must be a function");
  if (faults.length > 0) throw new ValidationError(`${operation}: ${faults.join("; ")}`, { operation });
};

/**
 * The changes of a list since a snapshot, by pages. A page counts as taken when the next one is requested; until then,
 * the next run yields it again.
 */
export async function* changedContacts<C extends Contact>(
  options: ChangesOptions,
  { call, clock, pages }: ChangesContext<C>,
): AsyncGenerator<readonly ContactChange<C>[]> {
  check(options);
  const { snapshot, search, onProgress, ...callOptions } = options;
  const query = search === undefined ? {} : { search };
  const pass = await Pass.begin<C>(snapshot, query);
  const progress = new ProgressReporter(onProgress, undefined, clock);
  const waits = new WaitTracker();
  const scope = call.long(operation, { waits });
  const list = (from: { readonly cursor?: string | undefined; readonly prefetch?: number }) =>
    pages(scope, callOptions, { ...query, ...from });
  progress.watched = {
    get waitingFor() {
      return waits.now;
    },
  };
  waits.onBegin = () => progress.touch();
  try {
    if (pass.size > 0) await refuseForeign(pass, list({ prefetch: 0 }), snapshot);
    progress.skip(pass.seen);
    let done = pass.seen;
    for await (const { data, total, cursor } of list({ cursor: pass.cursor })) {
      const compared = data.filter(isRecord).map((contact) => pass.compare(contact));
      const changes = compared.flatMap(({ change }) => change ?? []);
      await pass.keep(compared, cursor ?? "");
      if (changes.length > 0) yield changes;
      await pass.commit();
      done += data.length;
      progress.total = total;
      progress.update(done);
    }
    for (const changes of pass.removed()) yield changes;
    await pass.finish();
    progress.update(done, true);
  } catch (error) {
    // If the list cannot be read from its cursor, the next run could not read it either.
    if (error instanceof ResponseValidationError) await pass.restart();
    throw error;
  } finally {
    progress.stop();
    await pass.close();
  }
}

/** A key does not say its workspace; only the contacts identify it. */
const refuseForeign = async <C extends Contact>(
  pass: Pass<C>,
  pages: AsyncIterable<{ readonly data: readonly C[] }>,
  since: string,
): Promise<void> => {
  for await (const { data } of pages)
    if (data.some((contact) => isRecord(contact) && pass.knows(String(contact.id)))) return;
  throw new ConfigurationError(
    `snapshot ${since} is of another workspace: none of its ${pass.size} contacts is in the list; if they were all removed, delete it to start over`,
  );
};
