import type { Exchange, Journal } from "../journal.ts";
import type { Found } from "./found.ts";
import { found } from "./found.ts";

/** A row of the request list. */
export interface RequestRow {
  readonly number: number;
  /** ISO 8601, on the sandbox's clock. */
  readonly at: string;
  readonly method: string;
  /** With the query. */
  readonly target: string;
  readonly operation: string | undefined;
  /** Undefined if a fault sent no answer. */
  readonly status: number | undefined;
  readonly fault: string | undefined;
  /** Whether the request took effect, whatever the response was. */
  readonly applied: boolean;
}

/** A request with all its details. */
export interface RequestDetail extends RequestRow {
  readonly workspace: string | undefined;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly answer: Exchange["answer"];
}

const rowOf = ({ number, request }: Exchange): RequestRow => {
  const { at, method, path, operation, status, fault, applied } = request;
  const query = new URLSearchParams(request.query).toString();
  const target = query === "" ? path : `${path}?${query}`;
  return { number, at: new Date(at).toISOString(), method, target, operation, status, fault, applied };
};

const isOf = ({ request: { status, fault } }: Exchange, kind: string): boolean => {
  if (kind === "fault") return fault !== undefined;
  if (status === undefined || status >= 500) return kind === "failed";
  return kind === (status >= 400 ? "refused" : "ok");
};

const mentions = ({ request, answer }: Exchange, search: string): boolean =>
  [JSON.stringify(request), answer.body].some((text) => text.toLowerCase().includes(search));

/** The newest matching requests, newest first. */
export const listRequests = (journal: Journal, filter: URLSearchParams): Found<RequestRow> => {
  const kind = filter.get("kind") ?? "";
  const operation = filter.get("operation") ?? "";
  const search = (filter.get("search") ?? "").toLowerCase();
  const fits = (one: Exchange): boolean =>
    (kind === "" || isOf(one, kind)) &&
    (operation === "" || one.request.operation === operation) &&
    (search === "" || mentions(one, search));
  return found(journal.exchanges, fits, rowOf);
};

/** One request by its number, while it is kept. */
export const requestDetail = (journal: Journal, number: number): RequestDetail | undefined => {
  const one = journal.exchanges.find((exchange) => exchange.number === number);
  if (one === undefined) return undefined;
  const { workspace, query, headers, body } = one.request;
  return { ...rowOf(one), workspace, query, headers, body, answer: one.answer };
};
