import { parsedJson } from "../../runtime/values.ts";
import type { Exchange, Journal } from "../journal.ts";
import { fieldsOf, isArray } from "../json.ts";
import { type Rows, selectRows, shows } from "./rows.ts";

const rowOf = ({ number, request, tookMs, isLost }: Exchange) => {
  const { at, path, query, method, operation, status, fault, limit, applied } = request;
  const target = [path, ...(Object.keys(query).length === 0 ? [] : [new URLSearchParams(query)])].join("?");
  const when = new Date(at).toISOString();
  return { number, at: when, method, target, operation, status, fault, limit, applied, tookMs, isLost };
};

/** A row of the request list. Its times are on the sandbox's clock, and its `target` includes the query. */
export type RequestRow = ReturnType<typeof rowOf>;

const isOf = ({ request: { status, fault } }: Exchange, kind: string): boolean => {
  if (kind === "fault") return fault !== undefined;
  if (status === undefined || status >= 500) return kind === "failed";
  return kind === (status >= 400 ? "refused" : "ok");
};

/** The items of a batch with their results. Undefined if the request is not a batch or its response is not readable. */
const itemsOf = ({ request: { body }, answer }: Exchange) => {
  const { events } = fieldsOf(body);
  const { results } = fieldsOf(parsedJson(answer?.body ?? ""));
  if (!isArray(events) || !isArray(results)) return undefined;
  return events.map((event, index) => {
    const { name, contact } = fieldsOf(event);
    const { email, externalId, id } = fieldsOf(contact);
    const { status, outcome, error } = fieldsOf(results[index]);
    return {
      name: String(name ?? ""),
      person: String(email ?? externalId ?? id ?? ""),
      status: Number(status),
      /** The item's outcome, or the reason for its refusal. */
      result: String(error ?? outcome ?? ""),
    };
  });
};

export const listRequests = (journal: Journal, filter: URLSearchParams): Rows<RequestRow> => {
  const kind = filter.get("kind") || undefined;
  const operation = filter.get("operation") || undefined;
  const fits = (one: Exchange): boolean =>
    (kind === undefined || isOf(one, kind)) &&
    (operation === undefined || one.request.operation === operation) &&
    shows(filter, () => {
      const { answer, ...detail } = detailOf(one);
      return { ...detail, answered: answer?.headers, answer: parsedJson(answer?.body ?? "") ?? answer?.body };
    });
  return { ...selectRows(journal.exchanges, fits, rowOf), note: journal.gaps };
};

const detailOf = (one: Exchange) => {
  const { workspace, query, headers, body } = one.request;
  return { ...rowOf(one), workspace, query, headers, body, answer: one.answer, items: itemsOf(one) };
};

/** A request with all details. `answer` is missing once the journal has dropped it. */
export type RequestDetail = ReturnType<typeof detailOf>;

/** The request with this number, or undefined once the journal has dropped it. */
export const requestDetail = ({ exchanges }: Journal, number: number): RequestDetail | undefined => {
  const one = exchanges[number - (exchanges[0]?.number ?? 1)];
  return one && detailOf(one);
};
