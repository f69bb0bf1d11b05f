import type { Settings } from "../options/options.ts";
import type { Clock } from "../runtime/clock.ts";
import { RateLimiter } from "./limiter.ts";

/** Finds or makes the limiter of a key: `words` and the identity of `things` tell it from others. */
type Find = (
  words: readonly unknown[],
  things: readonly (object | undefined)[],
  make: () => RateLimiter,
) => RateLimiter;

// Registered: the ESM and the CommonJS copy of the package in one process share the budgets of a key.
const place = Symbol.for("touchpoint-sdk.limiter.v1");

const registry = (): Find => {
  const known = new Map<string, WeakRef<RateLimiter>>();
  const cleaner = new FinalizationRegistry<string>((id) => {
    if (known.get(id)?.deref() === undefined) known.delete(id);
  });
  // Here, so that both copies of the package know a thing by one number.
  const ids = new WeakMap<object, number>();
  let idCount = 0;
  const idOf = (thing: object | undefined): number => {
    if (thing === undefined) return 0;
    const id = ids.get(thing) ?? ++idCount;
    ids.set(thing, id);
    return id;
  };
  return (words, things, make) => {
    const id = JSON.stringify([...words, ...things.map(idOf)]);
    const current = known.get(id)?.deref();
    if (current !== undefined) return current;
    const limiter = make();
    known.set(id, new WeakRef(limiter));
    cleaner.register(limiter, id);
    return limiter;
  };
};

const find = (): Find => {
  // One non-enumerable property, made with the first client; a closure, so that no listing shows a key.
  const shared = globalThis as { [place]?: Find };
  shared[place] ?? Object.defineProperty(shared, place, { value: registry(), configurable: true });
  return shared[place] ?? registry();
};

// workerd ends a timer with the request it was made in, and refuses to wake another request from it.
const isWorkerd = (): boolean => {
  // Node 20 has no navigator, nor have its types.
  const navigator: unknown = Reflect.get(globalThis, "navigator");
  return Object(navigator).userAgent === "Cloudflare-Workers";
};

/**
 * The limiter of a key: clients with the same origin, key and limits share it, because the service counts them
 * together. A key function may answer anything, so its client has a limiter of its own, as each has in workerd.
 */
export const sharedLimiter = (settings: Settings, clock: Clock): RateLimiter => {
  const { apiKey, origin, basePath, limits, sharing, fetch } = settings;
  const make = (): RateLimiter => new RateLimiter(limits, clock, sharing);
  if (typeof apiKey !== "string" || isWorkerd()) return make();
  return find()([origin, basePath, apiKey, limits], [sharing, fetch], make);
};
