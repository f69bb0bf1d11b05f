/** Writes a schema out as code of its own. A file apart: it is half of zod, and a short script needs none of it. */
export { compile } from "zod/mini";
