import { type Incoming, Refusal } from "./answer.ts";
import { type Fields, isFields } from "./json.ts";

/** A parsed body, or why it is refused. */
export interface ParsedBody {
  /** The parsed JSON; the text if it is not JSON. */
  readonly value: unknown;
  /** The value, if it is an object. */
  readonly fields?: Fields;
  readonly refusal?: Refusal;
}

/** Parses the body of a request. The refusal is thrown later, when the request has been admitted. */
export const parseBody = ({ method, headers, body }: Incoming): ParsedBody => {
  if (body === "") {
    return method === "GET" || method === "DELETE"
      ? { value: undefined }
      : { value: undefined, refusal: new Refusal(400, "The body is missing.") };
  }
  if (!(headers["content-type"] ?? "").toLowerCase().startsWith("application/json")) {
    return { value: body, refusal: new Refusal(400, "The header Content-Type must be application/json.") };
  }
  try {
    const value: unknown = JSON.parse(body);
    return isFields(value) ? { value, fields: value } : { value };
  } catch {
    return { value: body, refusal: new Refusal(400, "The body is not valid JSON.") };
  }
};
