/** A JSON object whose fields are not known yet. */
export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const isArray = (value: unknown): value is readonly unknown[] => Array.isArray(value);

/** Whether the object itself, not its prototype, holds the field with a value. */
export const has = (fields: Fields, name: string): boolean =>
  Object.hasOwn(fields, name) && fields[name] !== undefined;
