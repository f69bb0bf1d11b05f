/** The entries of the package, by the name of their file in `dist/`. */
export const entry = {
  index: "src/index.ts",
  sandbox: "src/sandbox/index.ts",
  files: "src/files/index.ts",
  redis: "src/redis/index.ts",
  sql: "src/sql/index.ts",
  errors: "src/errors.ts",
  opentelemetry: "src/opentelemetry/index.ts",
};

/** The default transports, by the name of their file in `dist/`: package.json says under `imports` which one runs where. */
export const transports = {
  undici: "src/http/transport/undici.ts",
  edge: "src/edge.ts",
};

/** What the package calls its default transport inside. */
export const transportName = "#transport";

// undici is CommonJS: inside an ES module its require() of Node's own modules needs something to call. `createRequire`
// would do, for a tenth of what importing the package costs.
export const requireBanner = "const require=name=>process.getBuiltinModule(name);";
