/** What keeps Redis from answering, as it goes on after its name. */
export interface RedisFault {
  readonly what: string;
  readonly cause: unknown;
  /** Whether it has answered. */
  readonly isReply: boolean;
  /** Whether no waiting mends it. */
  readonly isLasting: boolean;
}

const cluster = "it is a cluster: connect with Cluster of ioredis, or with createCluster of node-redis";

/** What to do about the refusals of Redis that no waiting mends. */
const lasting: Readonly<Record<string, string>> = {
  NOAUTH: "give its client the password",
  WRONGPASS: "give its client the right user name and password",
  NOPERM: "let its user run EVAL and EVALSHA on the keys touchpoint:*",
  CROSSSLOT: 'its keys must lie in one slot: the id of redisLimits must not begin with "}"',
  MOVED: cluster,
  WRONGTYPE: "another program uses the key: give another id or prefix",
};

/** And about others. */
const passing: Readonly<Record<string, string>> = {
  READONLY: "it is a replica: connect to the primary",
  OOM: "it is full: raise its maxmemory",
};

/** What a failed command tells of Redis. */
export const faultOf = (cause: unknown): RedisFault => {
  const message = cause instanceof Error ? cause.message : String(cause);
  // Replies begin with a word in capitals; what a client says of its connection does not.
  const code = /^[A-Z]{2,}(?= )/.exec(message)?.[0];
  if (code === undefined)
    return { what: `is out of reach: ${message}`, cause, isReply: false, isLasting: false };
  const advice = lasting[code] ?? passing[code];
  const what = `refuses with ${message.replace(/ script: .*/, "")}${advice === undefined ? "" : ` (${advice})`}`;
  return { what, cause, isReply: true, isLasting: code in lasting };
};

/** No answer came in time. */
export const silence = (ms: number): RedisFault => ({
  what: `has given no answer for ${Math.round(ms)} ms`,
  cause: undefined,
  isReply: false,
  isLasting: false,
});

/** Names Redis, and what it keeps, where a command fails. */
export const asked = async <Answer>(keeps: string, command: Promise<Answer>): Promise<Answer> => {
  try {
    return await command;
  } catch (cause) {
    throw new Error(`Redis, which keeps ${keeps}, ${faultOf(cause).what}`, { cause });
  }
};
