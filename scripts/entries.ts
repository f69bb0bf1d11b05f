/** The entries of the package, by the name of their file in `dist/`. */
export const entry = {
  index: "src/index.ts",
  sandbox: "src/sandbox/index.ts",
  files: "src/files/index.ts",
  redis: "src/redis/index.ts",
};

// undici is CommonJS: inside an ES module its require() of Node's own modules needs one to call.
export const requireBanner =
  'import{createRequire as __createRequire}from"node:module";const require=__createRequire(import.meta.url);';
