import * as z from "zod/mini";
import { isRecord } from "../runtime/values.ts";

/** A schema whose output is `Output` and whose accepted input type is `Input`. */
export type Schema<Output = unknown, Input = Output> = z.ZodMiniType<Output, Input>;

/**
 * A schema that is built when it is first looked at: building all of them would be a third of what importing the
 * package costs, and a program uses a few.
 */
export const deferred = <T extends object>(build: () => T): T => {
  let built: T | undefined;
  const schema = (): T => {
    built ??= build();
    return built;
  };
  // Stands for the schema in every way that zod, and a user of it, looks at one.
  return new Proxy({} as T, {
    get: (_stand, key) => Reflect.get(schema(), key),
    has: (_stand, key) => Reflect.has(schema(), key),
    getPrototypeOf: () => Reflect.getPrototypeOf(schema()),
  });
};

/**
 * A string with known values that an editor completes; the document leaves the set open, so any other string
 * is accepted too.
 */
export const openUnion = <const Known extends string>(..._known: readonly Known[]) =>
  // The cast only narrows the static type: at run time any string passes.
  z.string() as unknown as Schema<Known | (string & {})>;

/** A schema for each field that a type names. */
type ShapeOf<T> = { readonly [Field in keyof T as string extends Field ? never : Field]-?: Schema<T[Field]> };

/**
 * An object with the fields of a type that is written out by hand, as an editor shows it; unknown fields pass
 * through at run time. What a field takes at run time fits its type, or it does not compile.
 */
export const objectOf = <T extends object>(shape: ShapeOf<T>, message = "must be an object") =>
  // The same fields, by the names of the type.
  z.looseObject(shape as z.core.$ZodShape, message) as unknown as Schema<T>;

/** A string that is not blank. */
export const Text = deferred(() =>
  z.string("must be a string").check(z.refine((value) => value.trim() !== "", "must not be empty")),
);

/** Text for a query: half a surrogate pair would be sent as another character. */
export const QueryText = deferred(() =>
  z
    .string("must be a string")
    .check(z.refine((value) => value.isWellFormed(), "must not hold half a surrogate pair")),
);

// Deliberately wide: the service decides what an address is. This catches slips such as a swapped argument, two
// addresses in one, or a name with the address; what stands in quotes may be anything.
const address = /^(?:"[^"]*"|[^\s@"<>,;])+@[^\s@"<>,;]+$/u;
const hasControl = /\p{Cc}/u;

const isAddress = (value: string): boolean =>
  address.test(value) && value.isWellFormed() && !hasControl.test(value);

/** One email address: something, an `@`, something; no blanks, and no control characters. */
export const EmailAddress = deferred(() =>
  z
    .string("must be an email address (a string)")
    .check(z.refine(isAddress, "must be one email address such as ada@example.com")),
);

const isText = (value: unknown): boolean => typeof value === "string";

/** A field of an answer that may be missing or null. */
export const maybe = <T extends z.core.$ZodType>(schema: T) => z.nullish(schema);

// For a field that may be missing zod compiles code that builds the value anew. For every contact of a page that
// would cost more than all other checks; these two look at the value and build nothing.

/** An object of an answer, whatever is in it. */
export const AnyObject = deferred(() =>
  z.unknown().check(z.refine(isRecord, "must be an object")),
) as Schema<{ [field: string]: unknown }>;

/** An array of strings of an answer. */
export const Texts = deferred(() =>
  z
    .unknown()
    .check(z.refine((value) => Array.isArray(value) && value.every(isText), "must be an array of strings")),
) as Schema<string[]>;

/** Which part of a list to ask for: at most `limit` records, 1–200, after the first `skip`. */
export const paging = () => ({
  skip: z.optional(
    z.int("must be a whole number of at least 0").check(z.gte(0, "must be a whole number of at least 0")),
  ),
  limit: z.optional(
    z
      .int("must be a whole number from 1 to 200")
      .check(
        z.gte(1, "must be a whole number from 1 to 200"),
        z.lte(200, "must be a whole number from 1 to 200"),
      ),
  ),
});

/**
 * One page of a list. The counts are the service's; one that it left out is not there.
 *
 * Source: service document, Limits, paging.
 */
export interface Page<T> {
  /** The records, in the order of the service. */
  readonly data: T[];
  /** How many records there are in all. */
  readonly total: number;
  /** How many records come before this page. */
  readonly skip: number;
  /** How many records a page holds at most, 1–200. */
  readonly limit: number;
}

/** A page of a list endpoint. */
export const page = <T>(item: Schema<T>) =>
  objectOf<Page<T>>({
    data: z.array(item),
    total: z.number(),
    skip: z.number(),
    limit: z.number(),
  });

/** Whatever comes. */
export const Anything = deferred(() => z.unknown());

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
