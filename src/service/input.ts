import type * as z from "zod/mini";
import { foldedName } from "../runtime/values.ts";
import { jsonFault } from "./json.ts";

/** By what each is made of, which a schema shares with what stands for it until it is built. */
const inputs = new WeakSet<object>();

/**
 * Marks the finished schema of an object that a caller gives. The document leaves its fields open, so unknown ones
 * pass; another spelling (`send_at`, `Email`) of a field that was not given is refused: the service would pass over it.
 */
export const inputOf = <Schema extends z.core.$ZodType>(schema: Schema): Schema => {
  inputs.add(schema._zod.def);
  return schema;
};

/** What the document names of an input. */
export interface KnownFields {
  readonly names: ReadonlySet<string>;
  readonly byFolded: ReadonlyMap<string, string>;
  /** Of the objects within it whose fields the document names too. */
  readonly inside: readonly (readonly [field: string, known: KnownFields])[];
}

/** The fields of an input; undefined for an answer, and for what has names of the workspace's own. */
export const knownFields = (schema: z.core.$ZodType): KnownFields | undefined => {
  // Every schema is one of these; only so does its type tell what it is made of.
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "optional":
    case "nullable":
      return knownFields(def.innerType);
    case "array":
      return knownFields(def.element);
    case "object": {
      if (!inputs.has(def)) return undefined;
      const names = Object.keys(def.shape);
      return {
        names: new Set(names),
        byFolded: new Map(names.map((name) => [foldedName(name), name])),
        inside: Object.entries(def.shape).flatMap(([field, inner]) => {
          const known = knownFields(inner);
          return known === undefined ? [] : [[field, known]];
        }),
      };
    }
    default:
      return undefined;
  }
};

/** A field that is not known, and is another spelling of one that is or cannot be written as JSON. */
interface Stray {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

const none: readonly Stray[] = [];

// Nearly every object passes here, and nothing is made for it; what it inherits only costs it the closer look.
const isKnown = (known: KnownFields, holder: object): boolean => {
  for (const name in holder) if (!known.names.has(name)) return false;
  return true;
};

const strayNames = (known: KnownFields, holder: object): readonly Stray[] => {
  if (isKnown(known, holder)) return none;
  let strays = none;
  const isMissing = (field: string): boolean => Reflect.get(holder, field) === undefined;
  for (const name of Object.keys(holder)) {
    if (known.names.has(name) || isMissing(name)) continue;
    // No schema looks at it: as much as a function, or endless nesting, would end a whole batch.
    const unwritable = jsonFault(Reflect.get(holder, name), name);
    if (unwritable !== undefined)
      strays = [...strays, { path: [name, ...unwritable.path], message: unwritable.message }];
    const meant = known.byFolded.get(foldedName(name));
    if (meant !== undefined && isMissing(meant))
      strays = [...strays, { path: [name], message: `there is no such field; is "${meant}" meant?` }];
  }
  return strays;
};

const straysAt = (key: PropertyKey, known: KnownFields, value: unknown): readonly Stray[] => {
  const strays = Array.isArray(value)
    ? value.flatMap((item, index) => straysAt(index, known, item))
    : strayFields(known, value);
  return strays.length === 0 ? none : strays.map(({ path, message }) => ({ path: [key, ...path], message }));
};

/** Finds the misspelt fields of an input, those beyond the document that JSON cannot carry, and both in objects within it. */
export const strayFields = (known: KnownFields, value: unknown): readonly Stray[] => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return none;
  let strays = strayNames(known, value);
  for (const [field, inner] of known.inside) {
    const within = straysAt(field, inner, Reflect.get(value, field));
    if (within.length > 0) strays = [...strays, ...within];
  }
  return strays;
};
