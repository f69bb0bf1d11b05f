/** Yields the prototypes of an object, starting with its class. */
function* prototypesOf(instance: object): Generator<object> {
  let prototype: unknown = Object.getPrototypeOf(instance);
  while (typeof prototype === "object" && prototype !== null && prototype !== Object.prototype) {
    yield prototype;
    prototype = Object.getPrototypeOf(prototype);
  }
}

const boundTo = (instance: object, { value, get, set }: PropertyDescriptor): PropertyDescriptor => {
  // Configurable, so that a test can replace a method. Not enumerable, like a method of a class.
  const bound: PropertyDescriptor = { configurable: true };
  if (get !== undefined) bound.get = get.bind(instance);
  if (set !== undefined) bound.set = set.bind(instance);
  return get === undefined && set === undefined
    ? { ...bound, value: value.bind(instance), writable: true }
    : bound;
};

/**
 * Binds the methods and accessors of an object's classes to the object. A method then works on its own
 * (`const { record } = recorder`), and through a proxy of Vue or MobX, which has no access to private fields. Call this
 * at the end of a constructor. It also binds the methods of a subclass.
 */
export const bindMethods = (instance: object): void => {
  for (const prototype of prototypesOf(instance))
    for (const name of Reflect.ownKeys(prototype)) {
      const property = Object.getOwnPropertyDescriptor(prototype, name);
      if (name === "constructor" || property === undefined || Object.hasOwn(instance, name)) continue;
      if (typeof property.value !== "function" && !("get" in property)) continue;
      Object.defineProperty(instance, name, boundTo(instance, property));
    }
};
