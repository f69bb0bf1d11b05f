/** A fault as a Standard Schema tells it. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

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
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult | Promise<SchemaResult>;
    readonly types?: { readonly input: Input; readonly output: unknown } | undefined;
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
