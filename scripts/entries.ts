/** The entries of the package, by the name of their file in `dist/`. */
export const entry = {
  index: "src/index.ts",
  sandbox: "src/sandbox/index.ts",
  files: "src/files/index.ts",
  redis: "src/redis/index.ts",
  errors: "src/errors.ts",
};

// undici is CommonJS: inside an ES module its require() of Node's own modules needs something to call. `createRequire`
// would do, for a tenth of what importing the package costs.
export const requireBanner = "const require=name=>process.getBuiltinModule(name);";
