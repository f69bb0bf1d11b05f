import type { Clock } from "../clock.ts";
import type { Settings } from "../options.ts";
import { Traffic } from "./traffic.ts";

type Find = (id: string, make: () => Traffic) => Traffic;

// Registered: the ESM and the CommonJS copy of the package in one process share the budgets of a key.
const place = Symbol.for("touchpoint-sdk.traffic.v1");

const registry = (): Find => {
  const known = new Map<string, WeakRef<Traffic>>();
  const cleaner = new FinalizationRegistry<string>((id) => {
    if (known.get(id)?.deref() === undefined) known.delete(id);
  });
  return (id, make) => {
    const current = known.get(id)?.deref();
    if (current !== undefined) return current;
    const traffic = make();
    known.set(id, new WeakRef(traffic));
    cleaner.register(traffic, id);
    return traffic;
  };
};

const find = (): Find => {
  // One non-enumerable property, made with the first client; a closure, so that no listing shows a key.
  const shared = globalThis as { [place]?: Find };
  shared[place] ?? Object.defineProperty(shared, place, { value: registry(), configurable: true });
  return shared[place] ?? registry();
};

const ids = new WeakMap<object, number>();
let idCount = 0;

const idOf = (thing: object | undefined): number => {
  if (thing === undefined) return 0;
  const id = ids.get(thing) ?? ++idCount;
  ids.set(thing, id);
  return id;
};

/**
 * The traffic of a key: clients with the same origin, key and limits share it, because the service counts them
 * together. A key function may answer anything, so its client has a traffic of its own.
 */
export const sharedTraffic = (settings: Settings, clock: Clock): Traffic => {
  const { apiKey, origin, basePath, limits, sharing, fetch } = settings;
  const make = (): Traffic => new Traffic(limits, clock, sharing);
  if (typeof apiKey !== "string") return make();
  return find()(JSON.stringify([origin, basePath, apiKey, limits, idOf(sharing), idOf(fetch)]), make);
};
