// Run by Bun: proves the drivers that only Bun has, and prints what came out.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migration } from "../../src/sql/index.ts";
import { drivers } from "./drivers.mjs";
import { prove, queryOf, rows } from "./proof.ts";

const [, , name = "", url = ""] = process.argv;
const driver = drivers[name];
if (driver === undefined) throw new Error(`no driver ${name}`);
const folder = mkdtempSync(join(tmpdir(), "touchpoint-bun-"));
const { handles, close } = await driver.open(url, folder, migration(driver.dialect));
const adapter = rows.find((row) => row.name === name)?.adapter ?? "";
console.log(JSON.stringify(await prove(queryOf(adapter, handles), driver.dialect)));
await close();
