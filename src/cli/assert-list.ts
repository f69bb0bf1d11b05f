import { type Client, NotFoundError } from "../index.ts";
import { UsageError } from "./cli-command.ts";

// Under the domain that no mail reaches: nobody is taken out of the list.
const nobody = "nobody@touchpoint.invalid";

/**
 * Makes sure of a list before anything is written. The service has no call that reads one, so an address that
 * nobody has is removed from it.
 *
 * @throws UsageError when the service has no such list; what else the service says is thrown as it is.
 */
export const assertList = async (client: Client, id: string, signal: AbortSignal): Promise<void> => {
  try {
    await client.lists.removeContacts(id, [nobody], { signal });
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    throw new UsageError(`--add-to-list: there is no list "${id}" (${error.message})`, { cause: error });
  }
};
