import { AdapterFault } from "../ledger/ledger-over.ts";
import { LatencyFloor } from "../rate-limit/permits.ts";
import type { Clock } from "../runtime/clock.ts";
import { type BudgetRecord, format, silenceMs } from "./budget-record.ts";
import { grant } from "./grant.ts";
import type { Message, Reply, StoreTime, Trip } from "./messages.ts";
import type { Place, StoredValue, StoredValues } from "./place.ts";

/** The values of a place. The place's time was `now` at some moment between `sentAt` and `heardAt`. */
interface Snapshot extends Trip {
  readonly now: number;
  readonly values: readonly StoredValue[];
}

/** The last value of a key that this process has received. */
type Remembered = StoredValue & Trip & StoreTime;

/** The reply to a message, and the round trip on whose values it is based. */
export interface Heard extends Reply, Trip {}

// The estimate of the place's time is too uncertain for values older than `freshMs`, and after a round trip longer than
// `mostTripMs`.
const freshMs = 1_000;
const mostTripMs = 250;
// A few processes often have this many conflicts in a row, so these retries do not wait.
const mostInARow = 3;
const mostBackOffMs = 500;

/** @throws AdapterFault that names the key, if the value is not a record in the current format. */
const recordOf = ({ value }: StoredValue, key = ""): BudgetRecord | undefined => {
  if (value === "") return undefined;
  try {
    const record: unknown = JSON.parse(value);
    if (Object(record).format === format) return record as BudgetRecord;
  } catch {
    // Not JSON: throw the error below.
  }
  throw new AdapterFault(
    `the value of ${key} is damaged or was written by another version of this package: delete it`,
  );
};

/**
 * Applies the messages of one process to values that several processes change. An exchange applies a message to the
 * last known values, and writes the result if the stored values are still the same. Otherwise, it gets the current
 * values and applies the message again.
 */
export class Exchange {
  readonly #place: Place;
  readonly #process: string;
  readonly #clock: Clock;
  /** The least time that a round trip to the place takes, as measured so far. */
  readonly floor = new LatencyFloor(10_000, { slackMs: 15, mostMs: silenceMs / 2 });
  /** When the place last responded. */
  heardAt = Number.NEGATIVE_INFINITY;
  readonly #values = new Map<string, Remembered>();
  #writes = 0;

  constructor(place: Place, process: string, clock: Clock) {
    this.#place = place;
    this.#process = process;
    this.#clock = clock;
  }

  async send(keys: readonly string[], message: Message): Promise<Heard> {
    let snapshot = this.#remembered(keys) ?? (await this.#read(keys));
    for (let conflicts = 0; ; conflicts += 1) {
      const { values, sentAt, heardAt } = snapshot;
      const stored = values.map((value, at) => recordOf(value, keys[at]));
      const { records, reply } = grant(stored, message, snapshot);
      const next = await this.#write(keys, records, snapshot);
      if (next.isWritten) return { ...reply, sentAt, heardAt };
      snapshot = conflicts < mostInARow ? next : await this.#readLater(keys, next, conflicts);
    }
  }

  /**
   * Returns the last known values, with the earliest current time that is possible at the place; undefined if any value
   * is unknown or old.
   */
  #remembered(keys: readonly string[]): Snapshot | undefined {
    const localNow = this.#clock.now();
    // Check all keys, because a key that is no longer used would otherwise stay forever.
    for (const [key, { heardAt, sentAt }] of this.#values)
      if (localNow - heardAt > freshMs || heardAt - sentAt > mostTripMs) this.#values.delete(key);
    const values = keys.flatMap((key) => this.#values.get(key) ?? []);
    if (values.length < keys.length) return undefined;
    const latest = values.reduce((one, other) => (one.heardAt > other.heardAt ? one : other));
    const now = Math.floor(latest.now + localNow - latest.heardAt);
    return { now, values, sentAt: localNow - (latest.heardAt - latest.sentAt), heardAt: localNow };
  }

  #read(keys: readonly string[]): Promise<Snapshot> {
    return this.#trip(() => this.#place.read(keys));
  }

  /**
   * Waits for a random time, longer after each conflict, so that competing processes spread out. Then reads the values.
   */
  async #readLater(
    keys: readonly string[],
    { sentAt, heardAt }: Snapshot,
    conflicts: number,
  ): Promise<Snapshot> {
    const mostMs = Math.min((heardAt - sentAt + 1) * 2 ** (conflicts - mostInARow), mostBackOffMs);
    await this.#clock.sleep(Math.random() * mostMs);
    return this.#read(keys);
  }

  async #write(keys: readonly string[], records: readonly BudgetRecord[], { values }: Snapshot) {
    const version = `${this.#process}:${this.#writes++}`;
    const changes = keys.map((key, at) => ({
      key,
      expected: values[at]?.version ?? "",
      version,
      value: JSON.stringify(records[at]),
    }));
    // If the write gets no answer, the stored values are unknown.
    for (const key of keys) this.#values.delete(key);
    const stored = await this.#trip(() => this.#place.write(changes));
    const { now, sentAt, heardAt } = stored;
    // A database client may repeat a write after a lost connection, and then finds the version that it has just
    // written.
    const isOwn = stored.values.length > 0 && stored.values.every((value) => value.version === version);
    const isWritten = stored.isWritten || isOwn;
    for (const [at, key] of keys.entries()) {
      const value = isWritten ? changes[at] : stored.values[at];
      if (value !== undefined) this.#values.set(key, { ...value, now, sentAt, heardAt });
    }
    return { ...stored, isWritten };
  }

  /** Makes a round trip to the place, and measures it. */
  async #trip<Answer extends StoredValues>(request: () => Promise<Answer>): Promise<Answer & Trip> {
    const sentAt = this.#clock.now();
    const answer = await request();
    const heardAt = this.#clock.now();
    this.heardAt = heardAt;
    this.floor.add(heardAt - sentAt, heardAt);
    return { ...answer, sentAt, heardAt };
  }
}
