import { Refusal } from "../answer.ts";
import { type Fields, isFields } from "../json.ts";
import type { ApiKey } from "../keys.ts";
import type { Workspace } from "../store/workspace.ts";

/** The result of a batch item that fails because of a planned fault or a limit. */
export interface FailedItem {
  readonly status: number;
  readonly error: string;
}

/** An authenticated request as the rules see it. */
export interface Call {
  readonly workspace: Workspace;
  readonly key: ApiKey;
  /** The `:id` of the path; empty if there is none. */
  readonly id: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
  /** The failure of the batch item at this index, which is then not processed; undefined if there is none. */
  readonly failedItem: (index: number) => FailedItem | undefined;
  /** The shape of the answer to a scheduled email. */
  readonly scheduledResponse: "nested" | "flat";
}

/** The body as an object. @throws Refusal 400 for anything else. */
export const bodyFields = ({ body }: Pick<Call, "body">): Fields => {
  if (!isFields(body)) throw new Refusal(400, "The body must be a JSON object.");
  return body;
};

/** The refusal for a record that this workspace does not have. */
export const notFound = (what: string): Refusal =>
  new Refusal(404, `No ${what} with that id in this workspace.`);
