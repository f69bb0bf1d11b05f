import { ConfigurationError } from "../errors.ts";
import type { PlaceFault } from "../fleet/place.ts";

/** Why a Redis command failed. */
interface RedisFault extends PlaceFault {
  /** Whether Redis replied. */
  readonly isReply: boolean;
}

const cluster = "it is a cluster: connect with Cluster (ioredis) or createCluster (node-redis)";

/** Advice for errors that waiting cannot solve, by error code. */
const lastingAdvice: Readonly<Record<string, string>> = {
  NOAUTH: "pass the password to the Redis client",
  WRONGPASS: "pass the right user name and password to the Redis client",
  NOPERM:
    "allow the Redis user +eval +evalsha +get +set +time, and for a ledger +scan +info, on the keys ~touchpoint:* or your own prefix",
  MOVED: cluster,
  UNKNOWN:
    "Redis must have the commands eval, evalsha, get, set and time, and scan for a ledger: use a Redis that neither disables nor renames them",
  WRONGTYPE: "another program uses the key: choose another id or prefix",
};

/** Advice for errors that may pass. */
const passingAdvice: Readonly<Record<string, string>> = {
  READONLY: "it is a replica: connect to the primary",
  OOM: "it is full: increase its maxmemory",
};

// Replies to a script whose user may not run one of its commands or use a key: up to Redis 7.0, and since 7.2.
const deniedInScript = /^ERR (The user executing the script can't|ACL failure in script)/;

// Replies for a command that Redis does not have, or that `rename-command` has renamed; directly and in a script.
const unknownCommand = /^ERR (unknown command|.*Unknown Redis command called from script)/;

const kindOf = (code: string, message: string): string => {
  if (unknownCommand.test(message)) return "UNKNOWN";
  return deniedInScript.test(message) ? "NOPERM" : code;
};

// A script's position, and the arguments of a command, which can contain addresses.
const details = /( script: |, with args beginning with: ).*/;

/** The fault behind a failed command. */
export const faultOf = (cause: unknown): RedisFault => {
  const message = cause instanceof Error ? cause.message : String(cause);
  // The library threw this error, because the client does not return the replies of Redis.
  if (cause instanceof ConfigurationError)
    return { what: `cannot be used: ${message}`, cause, isReply: true, isLasting: true };
  // Error replies start with a word in capitals; a client's connection errors do not.
  const code = /^[A-Z]{2,}(?= )/.exec(message)?.[0];
  if (code === undefined)
    return { what: `is unreachable: ${message}`, cause, isReply: false, isLasting: false };
  const kind = kindOf(code, message);
  const advice = lastingAdvice[kind] ?? passingAdvice[kind];
  const what = `replied: ${message.replace(details, "")}${advice === undefined ? "" : ` (${advice})`}`;
  return { what, cause, isReply: true, isLasting: kind in lastingAdvice };
};

/** Awaits a command. @throws ConfigurationError that names Redis and what it stores. */
export const withAdvice = async <Answer>(stored: string, command: Promise<Answer>): Promise<Answer> => {
  try {
    return await command;
  } catch (cause) {
    if (cause instanceof ConfigurationError) throw cause;
    throw new ConfigurationError(`Redis, which stores ${stored}, ${faultOf(cause).what}`, { cause });
  }
};
