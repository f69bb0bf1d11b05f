// The job as a program with files.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { fileLedger } from "touchpoint-sdk";
import { writeCsv } from "touchpoint-sdk/files";
import { equal, run, stepsOf } from "./steps.mjs";

const { PLAIN_URL, STALLING_URL, RESETTING_URL, FOLDER = "." } = process.env;
const { client, steps } = stepsOf({
  plain: PLAIN_URL,
  stalling: STALLING_URL,
  resetting: RESETTING_URL,
  ledger: fileLedger(join(FOLDER, "ledger")),
  checkpoint: join(FOLDER, "checkpoint"),
});
const { "upsert a contact": upsert, ...rest } = steps;
const withExport = {
  "upsert a contact": upsert,
  "export contacts to CSV": async () => {
    const file = join(FOLDER, "contacts.csv");
    const { records } = await writeCsv(file, client.contacts.list(), { columns: ["id", "email"] });
    equal([records, (await readFile(file, "utf8")).trimEnd().split("\n").length], [451, 452]);
  },
  ...rest,
};
// No await at the top: a program in one file by Rollup, or as CommonJS, can have none.
const main = async () => {
  for await (const line of run(withExport)) console.log(line);
};
void main();
