type Listener = () => void;

interface Hub {
  readonly listeners: Set<Listener>;
  readonly tell: Listener;
}

const hubs = new WeakMap<AbortSignal, Hub>();

const hubOf = (signal: AbortSignal): Hub => {
  const known = hubs.get(signal);
  if (known !== undefined) return known;
  const listeners = new Set<Listener>();
  // A copy: a listener may take itself, or others, off the list.
  const tell = (): void => {
    for (const listener of [...listeners]) listener();
  };
  const hub = { listeners, tell };
  hubs.set(signal, hub);
  return hub;
};

/**
 * Calls back when the signal aborts; the answer undoes it.
 *
 * However many calls share a signal, it gets one listener, and none once they are over: a signal that lives as long
 * as its process neither collects listeners nor makes Node warn of a leak. A signal that has aborted already never
 * calls back.
 */
export const whenAborted = (signal: AbortSignal | undefined, listener: Listener): Listener => {
  if (signal === undefined) return () => undefined;
  const { listeners, tell } = hubOf(signal);
  if (listeners.size === 0) signal.addEventListener("abort", tell);
  listeners.add(listener);
  return () => {
    if (listeners.delete(listener) && listeners.size === 0) signal.removeEventListener("abort", tell);
  };
};
