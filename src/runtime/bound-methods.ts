/** Yields the prototypes of an object, starting with its class. */
function* prototypesOf(instance: object): Generator<object> {
  let prototype: unknown = Object.getPrototypeOf(instance);
  while (typeof prototype === "object" && prototype !== null && prototype !== Object.prototype) {
    yield prototype;
    prototype = Object.getPrototypeOf(prototype);
  }
}

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
      for (const part of ["value", "get", "set"] as const)
        if (typeof property[part] === "function") property[part] = property[part].bind(instance);
      Object.defineProperty(instance, name, property);
    }
};
