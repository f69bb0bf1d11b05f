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
    name: "while it waits for its turn",
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
    name: "while it connects",
    arrange: (sandbox, reached) => endless(sandbox, "always", reached),
  },
  {
    ...unsent,
    isUnclear: true,
    name: "when the service has the request and has done nothing",
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
    name: "when the service has applied it and said nothing",
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
    name: "when the headers have come",
    isUnreachable: hasNoBody,
    arrange: async (sandbox, reached) => {
      const front = await openFront(sandbox, { deliver: headOf });
      return { ...front, strike: () => afterNextHeaders(front.port, reached) };
    },
  },
  {
    ...applied,
    name: "when half of the body has come",
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
    name: "in the back-off after a 503",
    refusedWith: "ServiceUnavailableError",
    isUnreachable: ({ replay }) => replay === "never",
    arrange: answering(undefined, 503),
  },
  {
    requests: 1,
    applies: false,
    isUnclear: false,
    name: "while it waits out a Retry-After",
    refusedWith: "RateLimitError",
    arrange: answering(50, 429),
  },
];
