import { isRecord } from "../runtime/values.ts";

/** A JSON object with unchecked fields. */
export type Fields = Readonly<Record<string, unknown>>;

/** The fields of an object. Any other value has no fields. */
export const fieldsOf = (value: unknown): Fields => (isRecord(value) ? value : {});

export const isArray = (value: unknown): value is readonly unknown[] => Array.isArray(value);

/** Whether the object itself, not its prototype, has the field with a value. */
export const has = (fields: Fields, name: string): boolean =>
  Object.hasOwn(fields, name) && fields[name] !== undefined;

type Defined<T> = { readonly [Name in keyof T]?: Exclude<T[Name], undefined> };

/** The fields that have a value. */
export const defined = <T extends object>(fields: T): Defined<T> =>
  // The cast is safe: only fields without a value are left out.
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
