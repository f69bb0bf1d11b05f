import type { Ending, Gate, SharingKind, SharingRequest } from "../options/shared-limits.ts";
import { coolMs } from "../rate-limit/permits.ts";
import { silenceMs } from "./budget-record.ts";
import { FleetBudget } from "./fleet-budget.ts";
import type { LimitStore, Part } from "./limit-store.ts";
import type { Ask, EndedRequest, PartReply, Trip } from "./messages.ts";

// After a failure of the store, the gate asks again after this time.
const retryMs = 250;
// A message reports the end of a request, with the time since then, at the latest after this time.
const mostUnreportedMs = 150;
// The most requests of one queue in a message.
const mostAsked = 100;
// The process may start to send requests until this long after its last answered message. A second later, the store
// considers the process dead. Within that second, the first byte of a request reaches the service.
const usableMs = silenceMs - 1_000;
// With a request in flight, a process sends a message at least this often, so that it does not count as dead.
const messageEveryMs = 500;
const never = Number.POSITIVE_INFINITY;

/** A request whose permits were requested from the store. */
interface Ticket {
  readonly request: SharingRequest;
  readonly id: string;
  /** The time in which the request may go; undefined before the store has granted it. */
  granted?: { readonly from: number; readonly until: number };
  /** Whether the request has gone with the permits that the store granted. */
  hasGone?: boolean;
}

/** Requests permits from the store for the requests of one kind, and reports the end of each request. */
export class FleetGate implements Gate {
  readonly #store: LimitStore;
  readonly #kind: SharingKind;
  readonly #budgets: readonly FleetBudget[];
  /** The requests whose permits were requested from the store, until they have ended. */
  readonly #tickets = new Map<SharingRequest, Ticket>();
  /** The ended requests that are not reported yet. */
  readonly #ended: EndedRequest[] = [];
  /** When to request permits for the waiting requests; `Infinity` from the request for permits until the answer. */
  #askAt = Number.NEGATIVE_INFINITY;
  #inFlight = 0;
  /** When the last message was sent, and when the last answered message was sent. */
  #sentAt = Number.NEGATIVE_INFINITY;
  #answeredAt = Number.NEGATIVE_INFINITY;
  lacks: Gate["lacks"] = undefined;

  constructor(store: LimitStore, kind: SharingKind) {
    this.#store = store;
    this.#kind = kind;
    this.#budgets = kind.budgets.flatMap(({ shared }) => (shared instanceof FleetBudget ? [shared] : []));
  }

  get #now(): number {
    return this.#store.clock.now();
  }

  readyAt(request: SharingRequest): number | undefined {
    // A timer may fire early by a rounding error.
    const now = this.#now + 0.001;
    const granted = this.#grantOf(request);
    if (granted !== undefined) return now >= granted.from ? undefined : granted.from;
    if (now >= this.#askAt) this.seek();
    const { lost } = this.#store;
    if (lost === undefined) return this.#askAt;
    const aloneAt = Math.max(...this.#spending(request).map(([budget, weight]) => budget.aloneAt(weight)));
    return aloneAt <= now ? undefined : Math.min(aloneAt, this.#askAt, lost.givesUpAt ?? never);
  }

  isGranted(request: SharingRequest): boolean {
    return this.#grantOf(request) !== undefined;
  }

  /** The grant of a request, unless it has expired. */
  #grantOf(request: SharingRequest): Ticket["granted"] {
    const granted = this.#tickets.get(request)?.granted;
    return granted !== undefined && this.#now <= granted.until ? granted : undefined;
  }

  isLapsed(request: SharingRequest): boolean {
    const granted = this.#tickets.get(request)?.granted;
    return granted !== undefined && this.#now > Math.max(granted.until, this.#answeredAt + usableMs);
  }

  take(request: SharingRequest): void {
    const ticket = this.#tickets.get(request);
    if (ticket !== undefined && this.isGranted(request)) {
      ticket.hasGone = true;
      this.#inFlight += 1;
      return this.#sendIn(messageEveryMs);
    }
    this.#tickets.delete(request);
    for (const [budget, weight] of this.#spending(request)) budget.takeAlone(weight);
  }

  drop(request: SharingRequest): void {
    const ticket = this.#tickets.get(request);
    if (ticket === undefined || ticket.hasGone) return;
    this.#tickets.delete(request);
    if (ticket.granted !== undefined) this.#end(ticket, { wasSent: false, wasAnswered: false });
    // No request of this kind waits now. Tell the store, so that other processes stop giving way to this kind.
    else if (this.#kind.queues.size === 0 && this.lacks !== undefined) this.seek();
  }

  settle(request: SharingRequest, { roundTripMs, wasSent }: Ending): void {
    const ticket = this.#tickets.get(request);
    this.#tickets.delete(request);
    const wasAnswered = roundTripMs !== undefined;
    for (const [budget, weight] of this.#spending(request)) {
      if (wasAnswered) budget.floor.add(roundTripMs, this.#now);
      if (ticket === undefined) budget.endAlone(weight, roundTripMs, wasSent);
    }
    if (ticket === undefined) return;
    this.#inFlight -= 1;
    this.#end(ticket, { wasSent, wasAnswered });
  }

  #end({ id, request }: Ticket, how: Pick<EndedRequest, "wasSent" | "wasAnswered">): void {
    const now = this.#now;
    const spending = this.#spending(request);
    const freeAt = spending.map(([{ limit }, weight]) => now + coolMs(limit, weight, how.wasAnswered));
    this.#ended.push({ id, weight: request.weight, freeAt, ...how });
    // Report a request that was never sent, or a pause for all processes, at once. To a distant store, report sooner.
    const isUrgent = !how.wasSent || this.#budgets.some((budget) => budget.hasUnreportedPause);
    const mostMs = isUrgent ? 0 : mostUnreportedMs - this.#store.floorMs;
    this.#sendIn(Math.min(mostMs, ...this.#budgets.map(({ limit }) => limit.windowMs / 6)));
  }

  #sendIn(ms: number): void {
    this.#store.gates.add(this);
    this.#store.sendIn(ms);
  }

  /** Each budget, with the weight that the request spends of it. */
  #spending({ weight }: Pick<SharingRequest, "weight">): readonly (readonly [FleetBudget, number])[] {
    return this.#budgets.map((budget, at) => [budget, at === this.#budgets.length - 1 ? weight : 1]);
  }

  #ticketOf(request: SharingRequest): Ticket {
    const existing = this.#tickets.get(request);
    if (existing !== undefined) return existing;
    const id = `${this.#store.process}:${this.#store.requestCount++}`;
    const ticket: Ticket = { request, id };
    this.#tickets.set(request, ticket);
    return ticket;
  }

  seek(): void {
    this.#askAt = never;
    this.#sendIn(0);
  }

  part(): Part | undefined {
    const isWaiting = this.#kind.queues.size > 0;
    const sentAt = this.#now;
    const isSilent = this.#inFlight > 0 && sentAt - this.#sentAt >= messageEveryMs / 2;
    if (this.#inFlight > 0) this.#sendIn(messageEveryMs);
    else if (!isWaiting) this.#store.gates.delete(this);
    const ended = this.#ended.splice(0);
    const waiting = this.#waiting();
    // A question without requests reports that no request waits now, or checks whether a lost store is back.
    const needsEmptyAsk = !isWaiting && (this.lacks !== undefined || this.#store.lost !== undefined);
    const tickets = waiting.length > 0 || needsEmptyAsk ? waiting : undefined;
    this.#askAt = tickets === undefined ? Number.NEGATIVE_INFINITY : never;
    if (ended.length === 0 && tickets === undefined && !isSilent) return undefined;
    this.#sentAt = sentAt;
    return {
      budgets: this.#budgets,
      message: {
        kind: `${this.#kind.priority} ${this.#kind.budgets.map(({ name }) => name).join("+")}`,
        ended,
        ask: tickets && this.#askOf(tickets),
      },
      heard: (reply, trip) => {
        this.#answeredAt = Math.max(this.#answeredAt, trip.sentAt);
        if (tickets !== undefined) this.#answered(tickets, reply, trip);
      },
      failed: () => {
        this.#ended.unshift(...ended);
        this.#askAt = this.#now + retryMs;
        this.#store.gates.add(this);
      },
    };
  }

  /**
   * The waiting requests that have slots but no grant: of each queue, at most as many as the narrowest limit allows at
   * once.
   */
  #waiting(): readonly Ticket[] {
    const waiting: Ticket[] = [];
    const { max } = this.#kind.budgets.at(-1)?.limit ?? { max: never };
    for (const queue of this.#kind.queues) {
      let left = Math.min(queue.slots.max - queue.slots.inUse, mostAsked);
      let permits = max;
      for (const request of queue.requests()) {
        if (left <= 0 || permits <= 0) break;
        left -= 1;
        permits -= request.weight;
        if (!this.isGranted(request)) waiting.push(this.#ticketOf(request));
      }
    }
    return waiting;
  }

  /** Creates the question to the store. An empty list reports that no request waits any longer. */
  #askOf(tickets: readonly Ticket[]): Ask {
    const first = tickets[0]?.request;
    return {
      shares: this.#kind.budgets.map((budget) => this.#kind.shareOf(budget)),
      leastReserve: first?.bounds.interactiveReserve ?? 0,
      leaseMs: silenceMs + (first?.request.attemptTimeoutMs ?? 0),
      requests: tickets.map(({ id, request: { weight } }) => ({ id, weight })),
    };
  }

  #answered(
    tickets: readonly Ticket[],
    { granted, waitMs, lacks }: PartReply,
    { sentAt, heardAt }: Trip,
  ): void {
    const now = this.#now;
    const until = heardAt + waitMs;
    const lacking = tickets[granted.length]?.request;
    // A request for which the day has no room is refused. Request permits for the request behind it at once.
    const isDayFull =
      lacking !== undefined && !this.#spending(lacking).every(([budget, weight]) => budget.has(weight));
    // Ask again two round trips before the wait ends, so that the answer arrives in time.
    const againAt = Math.max(now + 1, until - 2 * this.#store.floorMs);
    this.#askAt = lacks === undefined || isDayFull ? now : againAt;
    this.lacks = lacks === undefined ? undefined : { index: lacks, until };
    for (const [index, inMs] of granted.entries()) {
      const ticket = tickets[index];
      if (ticket === undefined || ticket.hasGone) continue;
      // The request has left the queue meanwhile, or was sent without the store. Return its permits.
      if (this.#tickets.get(ticket.request) !== ticket)
        this.#end(ticket, { wasSent: false, wasAnswered: false });
      else ticket.granted = { from: heardAt + inMs, until: sentAt + usableMs + inMs };
    }
  }
}
