/** What an array, a Map, a Date or a function has, and a record of fields has not. */
interface NoCollection {
  readonly [Symbol.iterator]?: never;
  readonly [Symbol.hasInstance]?: never;
  readonly [Symbol.toPrimitive]?: never;
}

/**
 * Fields by names that the caller chooses: an object literal, a record, or a value of any interface or class with
 * named fields; no array, Map, Date or function. What it may hold is what JSON carries.
 */
export type FreeFields = { [field: string]: unknown } | (object & NoCollection);

/** The same where they are handed back: each is read by its name. */
export type ReadableFields = { [field: string]: unknown };
