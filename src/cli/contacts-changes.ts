import { type CliCommand, exitCode, UsageError } from "./command.ts";
import { connectionOptions, watch } from "./connect.ts";
import { grouped } from "./terminal.ts";

export const contactsChanges: CliCommand = {
  name: "contacts changes",
  about:
    "Writes the contacts that were added, changed or removed since the last run, as NDJSON to standard output.\n" +
    "The first run writes every contact. If a run was stopped, run the same command again to continue: it misses\n" +
    "no change, but may repeat the last lines.",
  example: "touchpoint contacts changes --snapshot contacts.snapshot",
  operands: [],
  options: {
    "--snapshot <path>": "the snapshot file to compare with; the first run creates it",
    "--search <text>": "only contacts that match",
    ...connectionOptions,
  },
  run: async (request) => {
    const { snapshot, search } = request.values;
    if (snapshot === undefined) throw new UsageError("--snapshot <path> is missing");
    await using watching = await watch(request);
    const counts = { added: 0, changed: 0, removed: 0 };
    const changes = watching.client.contacts.changes({
      snapshot,
      search,
      signal: request.interrupt,
      onProgress: watching.show,
    });
    for await (const page of changes.pages()) {
      for (const { kind } of page) counts[kind] += 1;
      // Write the page before requesting the next one: the request marks this page as processed.
      await request.stdout.write(page.map((change) => `${JSON.stringify(change)}\n`).join(""));
    }
    watching.bar.end();
    const counted = Object.entries(counts).map(([kind, count]) => `${grouped(count)} ${kind}`);
    request.stderr.write(`${counted.join(", ")}\n`);
    return exitCode.ok;
  },
  afterInterrupt: "Run the same command again to continue where it stopped.",
};
