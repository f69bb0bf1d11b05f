import type { Sandbox } from "../../../../src/sandbox/index.ts";

/** Puts something into the sandbox by a bare request, none of it the client's code; answers the record's id. */
export const callApi = async (
  { fetch }: Pick<Sandbox, "fetch">,
  method: string,
  path: string,
  body: object,
): Promise<string> => {
  const response = await fetch(`http://sandbox/api/v1${path}`, {
    method,
    headers: { authorization: "Bearer sandbox-key", "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  // The sandbox answers a record, a scheduled email under a key of its own.
  const answer = (await response.json()) as {
    readonly id?: string;
    readonly email?: { readonly id: string };
  };
  return answer.id ?? answer.email?.id ?? "";
};
