import { ConfigurationError } from "../errors.ts";

/** Why a Redis command failed. */
export interface RedisFault {
  /** The rest of a sentence that starts with "Redis". */
  readonly what: string;
  readonly cause: unknown;
  /** Whether Redis replied. */
  readonly isReply: boolean;
  /** Whether waiting cannot help. */
  readonly isLasting: boolean;
}

const cluster = "it is a cluster: connect with Cluster (ioredis) or createCluster (node-redis)";

/** What to do about errors that waiting cannot solve, by error code. */
const lasting: Readonly<Record<string, string>> = {
  NOAUTH: "pass the password to the Redis client",
  WRONGPASS: "pass the right user name and password to the Redis client",
  NOPERM:
    "allow the Redis user +eval +evalsha +get +set +time, and for a ledger +scan +info, on the keys ~touchpoint:* or your own prefix",
  MOVED: cluster,
  WRONGTYPE: "another program uses the key: choose another id or prefix",
};

/** What to do about errors that may pass. */
const passing: Readonly<Record<string, string>> = {
  READONLY: "it is a replica: connect to the primary",
  OOM: "it is full: increase its maxmemory",
};

// Redis up to 7.0 and from 7.2 on, about a command or a key of a script.
const deniedInScript = /^ERR (The user executing the script can't|ACL failure in script)/;

/** The fault behind a failed command. */
export const faultOf = (cause: unknown): RedisFault => {
  const message = cause instanceof Error ? cause.message : String(cause);
  // Of the client: it does not return what Redis replied.
  if (cause instanceof ConfigurationError)
    return { what: `cannot be used through this client: ${message}`, cause, isReply: true, isLasting: true };
  // Error replies start with a word in capitals; a client's connection errors do not.
  const code = /^[A-Z]{2,}(?= )/.exec(message)?.[0];
  if (code === undefined)
    return { what: `is unreachable: ${message}`, cause, isReply: false, isLasting: false };
  const kind = deniedInScript.test(message) ? "NOPERM" : code;
  const advice = lasting[kind] ?? passing[kind];
  const what = `replied: ${message.replace(/ script: .*/, "")}${advice === undefined ? "" : ` (${advice})`}`;
  return { what, cause, isReply: true, isLasting: kind in lasting };
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
