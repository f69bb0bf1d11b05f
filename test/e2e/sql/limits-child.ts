import { systemClock } from "../../../src/runtime/clock.ts";
import { sqlLimits } from "../../../src/sql/index.ts";
import { memberOver } from "../../support/fleet.ts";
import { answered, requestOn } from "../../support/paced.ts";
import { poolOf, queryOf } from "../../support/postgres-server.ts";

/** A program that makes so many calls and is killed with the last answer; with code 3 if a call is refused. */
const [, , url = "", id = "", calls = "0"] = process.argv;
const pool = poolOf(url, 2);
const limits = sqlLimits(queryOf(pool), { dialect: "postgres", id, requestsPerDay: 30 });
const { send } = memberOver(
  limits,
  async () => {
    // A service whose count outlives the processes.
    await pool.query("UPDATE uses SET count = count + 1");
    return answered();
  },
  systemClock,
);
void (async () => {
  for (let call = 0; call < Number(calls); call += 1) await send(requestOn(["requests"]));
  process.kill(process.pid, "SIGKILL");
})().catch(() => process.exit(3));
