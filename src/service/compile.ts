/**
 * Compiles a schema to code. It is in a separate file, because it is half of zod, and a short script doesn't need it.
 */
export { compile } from "zod/mini";
