/** A fault as a Standard Schema tells it. */
export interface SchemaIssue {
  /** What is wrong, in the words of the schema's library. */
  readonly message: string;
  /** The keys that lead to it; none: the value itself. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What a schema says of a value: it fits, or what is wrong with it. */
type SchemaResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/**
 * A schema of zod, valibot, arktype or any other library that keeps the Standard Schema specification. `Input` is
 * what it accepts, and must be what JSON carries: nothing is transformed, the value given is the value sent.
 *
 * Source: standardschema.dev, version 1; only the parts used here, so that no package is needed for a type.
 */
export interface StandardSchema<Input = unknown> {
  /** All that the specification asks of a schema. */
  readonly "~standard": {
    /** Of the specification. */
    readonly version: 1;
    /** The library that the schema is of. */
    readonly vendor: string;
    /** Checks a value; only its issues are read, what it makes of the value is not. */
    readonly validate: (value: unknown) => SchemaResult | Promise<SchemaResult>;
    /** For the compiler only; undefined at run time. */
    readonly types?:
      | {
          /** What it accepts. */
          readonly input: Input;
          /** What it makes of that; not used. */
          readonly output: unknown;
        }
      | undefined;
  };
}

/** Tells a schema from anything else that may have been given for one. A schema of arktype is a function. */
export const isStandardSchema = (value: unknown): value is StandardSchema => {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  const standard = "~standard" in value ? value["~standard"] : undefined;
  return (
    typeof standard === "object" &&
    standard !== null &&
    "validate" in standard &&
    typeof standard.validate === "function"
  );
};
