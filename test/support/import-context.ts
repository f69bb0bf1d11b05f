import type { ImportContext } from "../../src/bulk/import-options.ts";

const unasked = async () => {
  throw new Error("an upsert settles each row of an unknown address");
};

/** The context of an import that may upsert, in a workspace without contacts. */
export const emptyWorkspace: Pick<ImportContext, "create" | "update" | "find" | "pages"> = {
  create: unasked,
  update: unasked,
  find: async () => null,
  pages: async function* () {},
};
