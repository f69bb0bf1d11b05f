import { Redis } from "ioredis";
import { member } from "../../support/fleet.ts";
import { requestOn } from "../../support/paced.ts";
import { countingOn, limit } from "./counting.ts";

/** A program that makes so many calls, of which none is ever answered: those beyond the limit wait. */
const [, , port = "", id = "", calls = "0"] = process.argv;
// Nobody is there to kill it once the test is gone.
process.stdin.once("end", () => process.exit()).resume();
const redis = new Redis(Number(port), "127.0.0.1");
const unanswered = countingOn(redis, { id, by: "child" }, () => new Promise(() => undefined));
const { send } = member(Number(port), unanswered, { id, requests: limit });
for (let call = 0; call < Number(calls); call += 1) void send(requestOn(["requests"]));
