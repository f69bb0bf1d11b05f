// Run by Bun: proves what only Bun has, a driver or its client of Redis, and prints what came out.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migration } from "../../src/sql/index.ts";
import { drivers, openBunRedis } from "./drivers.mjs";
import { prove, queryOf, redisStores, rows, sqlStores } from "./proof.ts";

const proveDriver = async (name: string, url: string): Promise<unknown> => {
  const driver = drivers[name];
  if (driver === undefined) throw new Error(`no driver ${name}`);
  const folder = mkdtempSync(join(tmpdir(), "touchpoint-bun-"));
  const { handles, close } = await driver.open(url, folder, migration(driver.dialect));
  const adapter = rows.find((row) => row.name === name)?.adapter ?? "";
  const proof = await prove(sqlStores(queryOf(adapter, handles), driver.dialect));
  await close();
  return proof;
};

const proveRedis = async (url: string): Promise<unknown> => {
  const { redis, close } = await openBunRedis(url);
  const proof = await prove(redisStores(redis));
  close();
  return proof;
};

const [, , name = "", url = ""] = process.argv;
console.log(JSON.stringify(await (name === "RedisClient" ? proveRedis(url) : proveDriver(name, url))));
