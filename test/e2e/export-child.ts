import { watch } from "node:fs";
import { basename, dirname } from "node:path";
import { Client } from "touchpoint-sdk";
import { writeCsv, writeNdjson } from "touchpoint-sdk/files";

// One run of an export, that says how many records it has written. Given `at-table`, it is killed as soon as it begins to
// write the table of records that waited for their columns.
const [, , baseUrl = "", out = "", kill] = process.argv;
if (kill === "at-table")
  watch(dirname(out), (_, name) => {
    if (
      name?.startsWith(`${basename(out)}.`) &&
      /^\.[0-9a-f]{8}\.tmp$/.test(name.slice(basename(out).length))
    )
      process.kill(process.pid, "SIGKILL");
  });
const client = new Client({ apiKey: "key", baseUrl, limits: false });
const options = {
  checkpoint: `${out}.checkpoint`,
  onWritten: ({ records, resumed = 0 }: { readonly records: number; readonly resumed?: number }) => {
    process.send?.(records - resumed);
  },
};
const list = client.contacts.list();
if (basename(out) === "all.csv") await writeCsv(out, list, options);
else if (out.endsWith(".csv")) await writeCsv(out, list, { ...options, columns: ["id", "email", "name"] });
else await writeNdjson(out, list, options);
await client.close();
process.disconnect();
