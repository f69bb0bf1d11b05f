/**
 * Binds the methods and accessors of an object's classes to the object. A method then works on its own
 * (`const { record } = recorder`), and through a proxy of Vue or MobX, which has no access to private fields. Call this
 * at the end of a constructor. It also binds the methods of a subclass.
 */
export const bindMethods = (instance: object): void => {
  let prototype: object = Object.getPrototypeOf(instance);
  while (prototype !== Object.prototype) {
    for (const name of Reflect.ownKeys(prototype)) {
      const property = Object.getOwnPropertyDescriptor(prototype, name);
      if (name === "constructor" || property === undefined || Object.hasOwn(instance, name)) continue;
      for (const part of ["value", "get", "set"] as const)
        if (typeof property[part] === "function") property[part] = property[part].bind(instance);
      Object.defineProperty(instance, name, property);
    }
    prototype = Object.getPrototypeOf(prototype);
  }
};
