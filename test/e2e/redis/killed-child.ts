import { Redis } from "ioredis";
import { member } from "../../support/fleet.ts";
import { answered, requestOn } from "../../support/paced.ts";
import { countingOn } from "./counting.ts";

/**
 * A program that makes so many calls and dies with the last answer; with code 3 if a call is refused. Or, if it `hangs`, one
 * that makes them at once, writes a line when they are on their way, and gets no answer.
 */
const [, , port = "", id = "", calls = "0", how = ""] = process.argv;
const redis = new Redis(Number(port), "127.0.0.1");
const counted = countingOn(redis, id, async () => answered());
const { send } = member(Number(port), counted, { id, requestsPerDay: 30 });
const die = (code: number): void => {
  if (how === "exit") process.exit(code);
  process.kill(process.pid, "SIGKILL");
};
const hang = (): void => {
  const slow = { attemptTimeoutMs: 86_400_000 };
  const { send } = member(Number(port), () => new Promise(() => process.stdout.write(".")), {
    id,
    requests: { max: Number(calls), windowMs: 500 },
  });
  for (let call = 0; call < Number(calls); call += 1) void send(requestOn(["requests"], slow));
};
void (async () => {
  if (how === "hangs") return hang();
  for (let call = 0; call < Number(calls); call += 1) await send(requestOn(["requests"]));
  die(0);
})().catch(() => process.exit(3));
