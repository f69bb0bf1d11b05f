import { Client } from "touchpoint-sdk";
import { writeCsv, writeNdjson } from "touchpoint-sdk/files";

// One run of an export, that says how many records it has written.
const [, , baseUrl = "", out = ""] = process.argv;
const client = new Client({ apiKey: "key", baseUrl, limits: false });
const options = {
  checkpoint: `${out}.checkpoint`,
  onWritten: ({ records, resumed = 0 }: { readonly records: number; readonly resumed?: number }) => {
    process.send?.(records - resumed);
  },
};
const list = client.contacts.list();
if (out.endsWith(".csv")) await writeCsv(out, list, { ...options, columns: ["id", "email", "name"] });
else await writeNdjson(out, list, options);
await client.close();
process.disconnect();
