/** A fault, as a Standard Schema reports it. */
export interface SchemaIssue {
  /** The message of the schema library. */
  readonly message: string;
  /** The path to the fault; none for the value itself. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The result of a validation: the value is valid, or its faults. */
type SchemaResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/**
 * A schema of zod, valibot, arktype or any other library that implements the Standard Schema specification. `Input` is
 * the accepted type, which must be JSON. The client doesn't use transformations: it sends the original value.
 *
 * Source: standardschema.dev, version 1; only the parts used here, so that the types need no package.
 */
export interface StandardSchema<Input = unknown> {
  /** Everything that the specification requires of a schema. */
  readonly "~standard": {
    /** The version of the specification. */
    readonly version: 1;
    /** The library of the schema. */
    readonly vendor: string;
    /** Validates a value. Only the issues are used, not the resulting value. */
    readonly validate: (value: unknown) => SchemaResult | Promise<SchemaResult>;
    /** For the compiler only; undefined at run time. */
    readonly types?:
      | {
          /** The accepted type. */
          readonly input: Input;
          /** The returned type, which is not used. */
          readonly output: unknown;
        }
      | undefined;
  };
}

/** Whether a value is a schema. A schema of arktype is a function. */
export const isStandardSchema = (value: unknown): value is StandardSchema => {
  const { "~standard": standard }: { "~standard"?: { validate?: unknown } | null } = Object(value);
  return typeof standard?.validate === "function";
};
