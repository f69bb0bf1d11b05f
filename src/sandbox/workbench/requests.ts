import type { Exchange, Journal, RequestRecord } from "../journal.ts";
import { isArray, isFields } from "../json.ts";
import { type Found, found, shows } from "./found.ts";

/** A row of the request list. */
export interface RequestRow
  extends Pick<RequestRecord, "method" | "operation" | "status" | "fault" | "limit" | "applied"> {
  readonly number: number;
  /** ISO 8601, on the sandbox's clock. */
  readonly at: string;
  /** With the query. */
  readonly target: string;
  /** Until its answer left; undefined before. */
  readonly tookMs: number | undefined;
  /** Whether it took effect, and its caller does not know. */
  readonly isLost: boolean;
}

/** An item of a batch, as sent and as answered. */
interface BatchItem {
  readonly name: string;
  readonly person: string;
  readonly status: number;
  /** Its outcome, or why it was refused. */
  readonly told: string;
}

/** A request with all its details. */
export interface RequestDetail
  extends RequestRow,
    Pick<RequestRecord, "workspace" | "query" | "headers" | "body"> {
  /** Undefined if it is no longer kept. */
  readonly answer: Exchange["answer"];
  /** Undefined if it is no batch, or its answer cannot be read. */
  readonly items: readonly BatchItem[] | undefined;
}

const rowOf = ({ number, request, tookMs, isLost }: Exchange): RequestRow => {
  const { at, method, path, operation, status, fault, limit, applied } = request;
  const query = new URLSearchParams(request.query).toString();
  const target = query === "" ? path : `${path}?${query}`;
  const when = new Date(at).toISOString();
  return { number, at: when, method, target, operation, status, fault, limit, applied, tookMs, isLost };
};

const isOf = ({ request: { status, fault } }: Exchange, kind: string): boolean => {
  if (kind === "fault") return fault !== undefined;
  if (status === undefined || status >= 500) return kind === "failed";
  return kind === (status >= 400 ? "refused" : "ok");
};

const parsed = (text: string | undefined): unknown => {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return text;
  }
};

const itemsOf = ({ request: { body }, answer }: Exchange): readonly BatchItem[] | undefined => {
  const told = parsed(answer?.body);
  if (!isFields(body) || !isArray(body.events) || !isFields(told) || !isArray(told.results)) return undefined;
  const { results } = told;
  return body.events.map((event, index) => {
    const { name, contact } = isFields(event) ? event : {};
    const { email, externalId, id } = isFields(contact) ? contact : {};
    const result = results[index];
    const { status, outcome, error } = isFields(result) ? result : {};
    return {
      name: String(name ?? ""),
      person: String(email ?? externalId ?? id ?? ""),
      status: Number(status),
      told: String(error ?? outcome ?? ""),
    };
  });
};

/** The newest matching requests, newest first. */
export const listRequests = (journal: Journal, filter: URLSearchParams): Found<RequestRow> => {
  const kind = filter.get("kind") || undefined;
  const operation = filter.get("operation") || undefined;
  const fits = (one: Exchange): boolean =>
    (kind === undefined || isOf(one, kind)) &&
    (operation === undefined || one.request.operation === operation) &&
    shows(filter, () => {
      const { headers, body, workspace } = one.request;
      const told = { answered: one.answer?.headers, answer: parsed(one.answer?.body) };
      return { ...rowOf(one), headers, body, workspace, ...told };
    });
  return { ...found(journal.exchanges, fits, rowOf), note: journal.gaps };
};

/** One request by its number, while it is kept. */
export const requestDetail = ({ exchanges }: Journal, number: number): RequestDetail | undefined => {
  const one = exchanges[number - (exchanges[0]?.number ?? 1)];
  if (one === undefined) return undefined;
  const { workspace, query, headers, body } = one.request;
  return { ...rowOf(one), workspace, query, headers, body, answer: one.answer, items: itemsOf(one) };
};
