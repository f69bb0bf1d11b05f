import * as z from "zod/mini";
import type { StandardSchema } from "../runtime/standard-schema.ts";
import { invisible, invisibleIn, isRecord, isString } from "../runtime/values.ts";

/** A fault of a value, and its path. */
export interface SchemaFault {
  /** The second half of a sentence, such as `must be a string`; empty if the schema has no message of its own. */
  readonly message: string;
  /** The path to the fault; empty for the value itself. */
  readonly path: readonly PropertyKey[];
}

/**
 * Checks a value and returns it unchanged. `Input` is the type of accepted values, and `Output` the type of the result.
 * The schema implements the Standard Schema specification.
 */
export interface Schema<Output = unknown, Input = Output> {
  /** The interface that the specification requires. */
  readonly "~standard": StandardSchema<Input>["~standard"] & {
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
  /**
   * Returns the value.
   *
   * @throws an error with `issues` if it is not valid.
   * @example
   * ```ts
   * import { ContactInput } from "touchpoint-sdk";
   *
   * const input = ContactInput.parse(JSON.parse('{ "email": "ada@example.com" }'));
   * ```
   */
  parse(value: unknown): Output;
  /**
   * Returns the value or its faults, and does not throw.
   *
   * @example
   * ```ts
   * import { ContactInput } from "touchpoint-sdk";
   *
   * const { error } = ContactInput.safeParse({ email: "nobody" });
   * console.log(error?.issues.map(({ path, message }) => `${path.join(".")}: ${message}`));
   * ```
   */
  safeParse(
    value: unknown,
  ):
    | { readonly success: true; readonly data: Output; readonly error?: undefined }
    | { readonly success: false; readonly error: { readonly issues: readonly SchemaFault[] } };
}

/** A zod schema. Every `Schema` of the library is one, but the declarations of the package don't name this type. */
export type ZodSchema<Output = unknown, Input = Output> = z.ZodMiniType<Output, Input>;

/** Returns a schema of the library with its zod type, for use in another schema. */
export const zodOf = <Output, Input>(schema: Schema<Output, Input> | z.core.$ZodType<Output, Input>) =>
  // zod creates all schemas of the library.
  schema as unknown as ZodSchema<Output, Input>;

/**
 * A schema that is built when it is first used. Building all schemas would take a third of the import time, and a
 * program uses only a few.
 */
export const deferred = <T extends object>(build: () => T): T => {
  let built: T | undefined;
  const schema = (): T => {
    built ??= build();
    return built;
  };
  // The proxy behaves like the schema for zod and its users.
  return new Proxy({} as T, {
    get: (_target, key) => Reflect.get(schema(), key),
    has: (_target, key) => Reflect.has(schema(), key),
    getPrototypeOf: () => Reflect.getPrototypeOf(schema()),
  });
};

/**
 * A string with known values, which an editor completes. The document leaves the set open, so any other string is
 * accepted: the cast changes only the static type.
 */
export const openText = <Known extends string>() => z.string() as unknown as ZodSchema<Known>;

/** Uses the same schema for each of these fields. */
export const each = <Field extends string, FieldSchema>(schema: FieldSchema, ...fields: readonly Field[]) =>
  // The object has one entry for each name.
  Object.fromEntries(fields.map((field) => [field, schema])) as Record<Field, FieldSchema>;

/** A schema for each field that a type names. */
type ShapeOf<T> = { readonly [Field in keyof T as string extends Field ? never : Field]-?: Schema<T[Field]> };

type Check<T> = z.core.CheckFn<T> | z.core.$ZodCheck<T>;

const looseObject = <T extends object>(
  shape: ShapeOf<T>,
  check?: () => Check<T>,
  message = "must be an object",
) => {
  // The shape has a schema for each field of the type.
  const schema = z.looseObject(shape as unknown as z.core.$ZodShape, message) as unknown as ZodSchema<T>;
  return check === undefined ? schema : schema.check(check());
};

/**
 * Creates the schema of an object whose type is written by hand, because an editor shows such a type in full. The
 * compiler checks that the shape matches the type. Unknown fields are kept at run time.
 *
 * @param check - a check of the complete object.
 */
export const objectOf = <T extends object>(shape: () => ShapeOf<T>, check?: () => Check<T>): ZodSchema<T> =>
  deferred(() => looseObject(shape(), check));

/** A schema of the library, or a part of one. */
export type AnySchema = Schema | z.core.$ZodType;

/** The definition of a zod schema. */
export type Definition = z.core.$ZodTypes["_zod"]["def"];

/** The definition of a schema. For an optional one, the definition of the inner schema. */
export const defOf = (schema: AnySchema): Definition => {
  // Every schema is one of these types, which have the definition.
  const { def } = (schema as unknown as z.core.$ZodTypes)._zod;
  return def.type === "optional" || def.type === "nullable" ? defOf(def.innerType) : def;
};

/**
 * The fields of each input, keyed by definition. A deferred schema shares its definition with the schema that it
 * builds.
 */
export const inputShapes = new WeakMap<Definition, ReadonlyMap<string, Definition>>();

/**
 * Creates the schema of an input, like `objectOf`. Unknown fields pass, because the document does not list all fields.
 * `issuesOf` refuses a misspelled field (`send_at`, `Email`), because the service would ignore it.
 *
 * @param message - for a value that is not an object.
 */
export const inputOf = <T extends object>(
  shape: () => ShapeOf<T>,
  check?: () => Check<T>,
  message?: string,
): ZodSchema<T> =>
  deferred(() => {
    const fields = shape();
    const schema = looseObject(fields, check, message);
    const names = Object.entries<AnySchema>(fields).map(([name, field]) => [name, defOf(field)] as const);
    inputShapes.set(defOf(schema), new Map(names));
    return schema;
  });

const textThat = (
  fits: (value: string) => boolean,
  message: Parameters<typeof z.refine>[1],
  kind = "must be a string",
) => deferred(() => z.string(kind).check(z.refine(fits, message)));

/** A string that is not blank. */
export const Text = textThat((text) => text.trim() !== "", "must not be empty");

/** Text for a query. Half of a surrogate pair is refused, because it would be sent as another character. */
export const QueryText = textThat((text) => text.isWellFormed(), "must not contain half of a surrogate pair");

// The service decides which addresses are valid. This pattern finds slips such as swapped arguments, two addresses in
// one string, or a name, quotes, a comment or a scheme (`SMTP:`) with the address. Quoted text may contain anything.
// The domain may be an IP address in brackets.
const address =
  /^(?:"[^"]*"|[^\s@"<>,;:()[\]\\])+@(?:[^\s@"<>,;:()[\]\\/?`'\p{Pi}\p{Pf}‚„]+|\[[\p{L}\p{N}:.]+\])$/u;

const isAddress = (value: string): boolean =>
  address.test(value) && value.isWellFormed() && !invisible.test(value) && !/^mailto:/i.test(value);

/**
 * Describes the fault of an address. It names spaces and invisible characters, which nobody could see in the address.
 */
const addressFault = (value: string): string => {
  if (value.trim() !== value) return "must not start or end with a space";
  const hidden = invisibleIn(value);
  if (hidden !== undefined) return `must not contain the invisible character ${hidden}`;
  if (/^mailto:/i.test(value)) return "must be one email address such as ada@example.com, not a mailto: link";
  return "must be one email address such as ada@example.com";
};

/** One email address: a text, an `@` and a text, without spaces and control characters. */
export const EmailAddress = textThat(
  isAddress,
  { error: ({ input }) => addressFault(String(input)) },
  "must be an email address (a string)",
);

const areTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isString);

// zod compiles a record, and an array in an optional field, to code that copies the value. For every contact of a page,
// the copies would cost more than all other checks. `AnyObject` and `Texts` check the value without a copy.
const valueThat = <T>(fits: (value: unknown) => boolean, message: string) =>
  deferred(() => z.unknown().check(z.refine(fits, message))) as unknown as ZodSchema<T>;

/** Any object in a response. */
export const AnyObject: ZodSchema<{ [field: string]: unknown }> = valueThat(isRecord, "must be an object");

/** An array of strings in a response. */
export const Texts: ZodSchema<string[]> = valueThat(areTexts, "must be an array of strings");

/** The part of a list to request: at most `limit` records, 1–200, after the first `skip`. */
export const paging = () => {
  const [skip, limit] = ["must be a whole number of at least 0", "must be a whole number from 1 to 200"];
  return {
    skip: z.optional(z.int(skip).check(z.gte(0, skip))),
    limit: z.optional(z.int(limit).check(z.gte(1, limit), z.lte(200, limit))),
  };
};

/**
 * One page of a list, with the counts of the service. `skip` and `limit` come from the query if the service left them
 * out.
 *
 * Source: service document, Limits, paging.
 */
export interface Page<T> {
  /** The records, in the order of the service. */
  readonly data: T[];
  /** The total number of records. */
  readonly total: number;
  /** The number of records before this page. */
  readonly skip: number;
  /** The maximum number of records on a page, 1–200. */
  readonly limit: number;
}

/** A count in a response. */
export const Whole: ZodSchema<number> = deferred(() => z.int("must be a whole number"));

/** A page of a list endpoint. */
export const page = <T>(item: Schema<T>) =>
  objectOf<Page<T>>(() => ({ data: z.array(zodOf(item)), total: Whole, skip: Whole, limit: Whole }));

/** Any value. */
export const Anything = deferred(() => z.unknown());

/** No value. */
export const Nothing = deferred(() => z.undefined());

/** Properties of arrays, Maps, Dates and functions that a record of fields does not have. */
interface NoCollection {
  readonly [Symbol.iterator]?: never;
  readonly [Symbol.hasInstance]?: never;
  readonly [Symbol.toPrimitive]?: never;
}

/**
 * Fields by your own names: an object literal, a record, or a value of any interface or class with named fields; no
 * array, Map, Date or function. Values must be JSON.
 */
export type FreeFields = { [field: string]: unknown } | (object & NoCollection);

/** Free fields in a value that you get back, so that you can read each field by its name. */
export type ReadableFields = { [field: string]: unknown };

/** The request. It supplies missing parts of a response. */
export interface RequestInput {
  /** The id in the path. */
  readonly id?: string;
  /** The query or body. */
  readonly payload: unknown;
}

export type Fields = Record<string, unknown>;

// With the type of Array.isArray, the items would be `any`.
export const isArray: (value: unknown) => value is unknown[] = Array.isArray;

const isNumber = (value: unknown): value is number => typeof value === "number";

export const isId = (id: unknown): id is string | number => typeof id === "string" || isNumber(id);

/**
 * Converts a numeric id to a string. Above 2^53, JSON.parse has changed the id, so it stays a number and validation
 * reports it.
 */
export const textOf = (id: unknown): unknown => (Number.isSafeInteger(id) ? String(id) : id);

/**
 * Reads a documented record. Numeric ids become strings. A record whose ids are strings is not copied.
 */
export const readRecord = (body: unknown): unknown => {
  const { id, contactId, leadId, listIds }: Fields = Object(body);
  let read = body;
  if (typeof id === "number") read = { ...Object(read), id: textOf(id) };
  if (typeof contactId === "number") read = { ...Object(read), contactId: textOf(contactId) };
  if (typeof leadId === "number") read = { ...Object(read), leadId: textOf(leadId) };
  if (isArray(listIds) && listIds.some(isNumber)) read = { ...Object(read), listIds: listIds.map(textOf) };
  return read;
};

const defaultLimit = 50;

/** Adds `skip` and `limit` from the request if a page does not have them. */
export const withRequestedPaging = (page: Fields, { payload }: RequestInput): Fields => {
  const { skip, limit }: { skip?: unknown; limit?: unknown } = Object(payload);
  return { ...page, skip: page.skip ?? skip ?? 0, limit: page.limit ?? limit ?? defaultLimit };
};

// The functions below read responses that the document does not describe, so they accept every plausible shape.

/**
 * Reads a page as documented, a bare array, or an envelope. The records may be under another key, and the counts in a
 * nested object.
 */
export const anyPage =
  (readItem: (record: unknown) => unknown, ...names: readonly string[]) =>
  (body: unknown): unknown => {
    if (isArray(body)) return { data: body.map(readItem) };
    if (!isRecord(body)) return body;
    const named = ["data", ...names, "items", "results", "records"].map((name) => body[name]).find(isArray);
    const inner = named === undefined && [body.data, body.result].find(isRecord);
    if (inner) {
      const page = anyPage(readItem, ...names)({ ...body, data: undefined, result: undefined, ...inner });
      return isRecord(page) && isArray(page.data) ? page : body;
    }
    const records = named ?? Object.values(body).find(isArray);
    if (records === undefined) return body;
    const counts = [body.meta, body.pagination, body.paging, body.page].find(isRecord);
    return { ...counts, ...body, data: records.map(readItem) };
  };

/** Reads a record, directly or in envelopes such as `{ data }` or `{ company }`, with its `id` on the top level. */
export const anyRecord = (...names: readonly string[]) => {
  const read = (body: unknown): unknown => {
    if (!isRecord(body)) return body;
    // An id on the top level belongs to the record, even if other objects are nested in it.
    if (body.id !== undefined) return readRecord(body);
    const envelope = ["data", ...names, "result"].find((name) => isRecord(body[name]));
    if (envelope !== undefined) {
      const { [envelope]: inner, ...beside } = body;
      return read({ ...beside, ...Object(inner) });
    }
    const id = [...names.map((name) => `${name}Id`), "_id"].map((name) => body[name]).find(isId);
    return readRecord(id === undefined ? body : { ...body, id });
  };
  return read;
};

/** Reads the response to a change. A response without an id, or without a body, gets the requested id. */
export const changed =
  (read: (body: unknown) => unknown) =>
  (body: unknown, { id }: RequestInput): unknown => {
    const record = read(body) ?? {};
    return isRecord(record) && (record.id ?? undefined) === undefined ? { ...record, id } : record;
  };
