import type { Client, ClientOptions } from "../../../../src/index.ts";
import type { Sandbox } from "../../../../src/sandbox/index.ts";
import { endless } from "./connections.ts";
import type { Place } from "./fault-case.ts";
import { type Deliver, openFront } from "./front.ts";
import { afterNextHeaders, afterNextPiece } from "./sockets.ts";
import type { Subject } from "./subjects.ts";

/** A place that tells when a call has come to the moment. */
interface MomentPlace extends Place {
  /** Makes another call before, and tells how to end it. */
  readonly occupy?: (client: Client) => () => void;
}

/** A point in the life of a call at which it may be ended from outside. */
export interface Moment {
  readonly name: string;
  /** Requests that reached the service by then. */
  readonly requests: number;
  /** Whether they were applied. */
  readonly applies: boolean;
  /** Whether a caller has to reckon with an effect. */
  readonly isUnclear: boolean;
  /** Operations that never come to it. */
  readonly isUnreachable?: (subject: Subject) => boolean;
  /** What a wait that is longer than the deadline is refused with, at once. */
  readonly refusedWith?: string;
  readonly options?: ClientOptions;
  arrange(sandbox: Sandbox, reached: () => void): Promise<MomentPlace>;
}

const aborter = () => {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
};

const nothing: Deliver = () => undefined;

const halfOf: Deliver = (response, { status, body }) => {
  response.writeHead(status, { "content-type": "application/json", "content-length": String(body.length) });
  response.write(body.slice(0, body.length >> 1));
};

const headOf: Deliver = (response, { status }) => {
  response.writeHead(status, { "content-type": "application/json", "content-length": "999" }).flushHeaders();
};

const hasNoBody = (subject: Subject): boolean => subject.hasNoBody === true;

const unsent = { requests: 0, applies: false, isUnclear: false } as const;
const applied = { requests: 1, applies: true, isUnclear: true } as const;

const answering =
  (retryAfter: number | undefined, status: number): Moment["arrange"] =>
  async (sandbox, reached) => {
    const place = await sandbox.listen();
    const fault = { status, ...(retryAfter !== undefined && { retryAfter }) };
    sandbox.fail({ with: fault, times: Number.POSITIVE_INFINITY });
    return { ...place, options: { hooks: { onWait: reached, onRetry: reached } } };
  };

/** Every moment of a call, in order. */
export const moments: readonly Moment[] = [
  {
    ...unsent,
    name: "while the call waits for a free slot",
    options: { concurrency: 1 },
    arrange: async (sandbox, reached) => ({
      ...(await openFront(sandbox, { admits: () => false })),
      occupy: (client) => {
        const { signal, abort } = aborter();
        client.contacts.list({}, { signal }).catch(() => undefined);
        return abort;
      },
      options: { hooks: { onWait: reached } },
    }),
  },
  {
    ...unsent,
    name: "while the client connects",
    arrange: (sandbox, reached) => endless(sandbox, "always", reached),
  },
  {
    ...unsent,
    isUnclear: true,
    name: "after the service received the request",
    arrange: (sandbox, reached) =>
      openFront(sandbox, {
        admits: () => {
          reached();
          return false;
        },
      }),
  },
  {
    ...applied,
    name: "after the service applied the request",
    arrange: (sandbox, reached) =>
      openFront(sandbox, {
        deliver: (...all) => {
          nothing(...all);
          reached();
        },
      }),
  },
  {
    ...applied,
    name: "after the headers arrived",
    isUnreachable: hasNoBody,
    arrange: async (sandbox, reached) => {
      const front = await openFront(sandbox, { deliver: headOf });
      return { ...front, strike: () => afterNextHeaders(front.port, reached) };
    },
  },
  {
    ...applied,
    name: "after half of the body arrived",
    isUnreachable: hasNoBody,
    arrange: async (sandbox, reached) => {
      const front = await openFront(sandbox, { deliver: halfOf });
      return { ...front, strike: () => afterNextPiece(front.port, reached) };
    },
  },
  {
    requests: 1,
    applies: false,
    isUnclear: true,
    name: "during the back-off after a 503",
    refusedWith: "ServiceUnavailableError",
    isUnreachable: ({ replay }) => replay === "never",
    arrange: answering(undefined, 503),
  },
  {
    requests: 1,
    applies: false,
    isUnclear: false,
    name: "during the wait for a Retry-After",
    refusedWith: "RateLimitError",
    arrange: answering(50, 429),
  },
];
