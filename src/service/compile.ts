/** Compiles a schema to code. A separate file, because it is half of zod, and a short script does not need it. */
export { compile } from "zod/mini";
