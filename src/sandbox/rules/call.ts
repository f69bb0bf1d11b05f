import { Refusal } from "../answer.ts";
import { type Fields, isFields } from "../json.ts";
import type { ApiKey } from "../keys.ts";
import type { Workspace } from "../store/workspace.ts";

/** Results of a batch that a planned fault, or a limit, makes fail. */
export interface FailedItem {
  readonly status: number;
  readonly error: string;
}

/** An authenticated request as the rules see it. */
export interface Call {
  readonly workspace: Workspace;
  readonly key: ApiKey;
  /** The `:id` of the path; empty where there is none. */
  readonly id: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
  /** Why the item of a batch at this index fails without being looked at, if it does. */
  readonly failedItem: (index: number) => FailedItem | undefined;
  /** How a scheduled email comes back. */
  readonly scheduledAnswer: "nested" | "flat";
}

/** The body as an object. @throws Refusal 400 for anything else. */
export const bodyFields = ({ body }: Pick<Call, "body">): Fields => {
  if (!isFields(body)) throw new Refusal(400, "The body must be a JSON object.");
  return body;
};

/** The refusal for a record that this workspace does not have. */
export const notFound = (what: string): Refusal =>
  new Refusal(404, `No ${what} with that id in this workspace.`);
