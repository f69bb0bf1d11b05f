import type { ClientOptions } from "../../../../src/index.ts";
import type { Fault, Sandbox } from "../../../../src/sandbox/index.ts";
import type { Subject } from "./subjects.ts";

/** Only the first request meets the fault, or every one does. */
export type Times = "once" | "always";

/** What the fault tells a caller, in the contract's terms. */
export type Says =
  /** A whole answer that can be read. */
  | "a response"
  /** Not one byte of the request left. */
  | "nothing left"
  /** The service did nothing, and says so. */
  | "refused"
  /** It may have been applied. */
  | "unclear"
  /** It may have been applied, and asking again would bring the same. */
  | "unclear for good";

/** Where a cell's client goes. */
export interface Place {
  readonly url: string;
  readonly port: number;
  readonly options?: ClientOptions;
  /** Makes a call before the one that is looked at. */
  readonly warmUp?: boolean;
  /** How many requests it has left without an end. */
  readonly stalled?: () => number;
  /** No request but the first may come before, in milliseconds since 1970. */
  readonly notBefore?: number;
  /** Done in the same turn in which the call begins. */
  strike?(): void;
  close(): Promise<void>;
}

/** One way for a network or a service to fail. */
export interface FaultCase {
  readonly name: string;
  readonly says: Says;
  /** The error's class, where there is one. */
  readonly error?: string;
  /** The effect happens with every request that meets the fault. */
  readonly applies: boolean;
  /** Only the body is spoilt; an operation without one answers as ever. */
  readonly isInBody?: boolean;
  /** It breaks off or stops; where there is no body, the sandbox sends nothing at all. */
  readonly isCut?: boolean;
  /** The request goes out and is never read. */
  readonly isUnread?: boolean;
  /** The answer has no body. */
  readonly isEmpty?: boolean;
  /** The answer has its shape, and says nothing of what became of an event. */
  readonly isSilent?: boolean;
  /** Whether the operation's answer no longer has the shape that the document gives it. */
  readonly misfits?: (subject: Subject) => boolean;
  /** This many events of every batch fail, for a reason that passes. */
  readonly failing?: number;
  /** The service asks to wait this long before the next request. */
  readonly waitMs?: number;
  /** It asks for longer than `maxRetryAfterMs`. */
  readonly isTooLong?: boolean;
  readonly times?: readonly Times[];
  /** The one operation it can happen to. */
  readonly only?: string;
  readonly options?: ClientOptions;
  arrange(sandbox: Sandbox, times: Times): Promise<Place>;
}

/** Serves the sandbox itself, with a planned fault. */
export const planned =
  (fault: Fault | (() => Fault)) =>
  async (sandbox: Sandbox, times: Times): Promise<Place> => {
    const planned = typeof fault === "function" ? fault() : fault;
    sandbox.fail({ with: planned, times: times === "once" ? 1 : Number.POSITIVE_INFINITY });
    const retryAfter = String(
      typeof planned === "object" && "retryAfter" in planned ? planned.retryAfter : undefined,
    );
    return {
      ...(await sandbox.listen()),
      stalled: () => sandbox.state.requests.filter((request) => request.fault !== undefined).length,
      ...(retryAfter.endsWith("GMT") && { notBefore: Date.parse(retryAfter) }),
    };
  };
