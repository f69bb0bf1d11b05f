import { type ApiPromise, answer, mapAnswer, type WithResponse } from "../call/api-promise.ts";
import type { Call } from "../call/executor.ts";
import { NotFoundError } from "../errors.ts";
import type { CallOptions } from "../options/options.ts";
import type {
  Company,
  CompanyCreated,
  CompanyInput,
  CompanyMatches,
  CompanyPatch,
} from "../service/companies.ts";
import { operations } from "../service/operations.ts";

const sameDomain = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** Picks the company with the domain; where no record says its domain, the only one there is. */
const matchOf = (domain: string, { data }: CompanyMatches): Company | null => {
  const named = data.filter((company) => typeof company?.domain === "string");
  const exact = named.find((company) => sameDomain(company.domain ?? "", domain));
  if (exact !== undefined) return exact;
  const [only] = data;
  return named.length === 0 && data.length === 1 && only !== undefined ? only : null;
};

/** Companies (leads, in the names of scopes). Reached as `client.companies`. */
export class Companies {
  readonly #call: Call;

  constructor(call: Call) {
    this.#call = call;
  }

  /**
   * Creates a company with its people in one call (inferred: its path is not documented). Where a company has the
   * `domain` already, that one is updated; so with a domain the call is repeated after a lost answer, and without one
   * it is not.
   *
   * @returns the ids that the service returns; their names are not documented, so `id` is read from whichever came.
   * @throws BadRequestError when a field is invalid.
   *
   * Source: service document, Companies (create), and Company, `domain`.
   */
  create(input: CompanyInput, options?: CallOptions): ApiPromise<CompanyCreated> {
    return this.#call(operations.companies.create, { payload: input }, options);
  }

  /**
   * Changes the fields sent of a company. The document gives neither the fields nor the answer: where it is empty, all
   * that comes back is the `id`.
   *
   * @throws NotFoundError when the workspace has no company with the id.
   * @throws ConflictError when another company has the new domain.
   *
   * Source: service document, Companies, PATCH.
   */
  update(id: string, patch: CompanyPatch, options?: CallOptions): ApiPromise<Company> {
    return this.#call(operations.companies.update, { id, payload: patch }, options);
  }

  /**
   * Finds the company with a domain, in any case of letters; `null` when there is none (inferred: the document names
   * the operation, and gives neither its path nor its answer).
   *
   * @throws ValidationError for a blank domain; nothing was sent.
   *
   * Source: service document, Companies, "find-by-domain operation".
   */
  findByDomain(domain: string, options?: CallOptions): ApiPromise<Company | null> {
    const search = this.#call(operations.companies.findByDomain, { payload: { domain } }, options);
    const found = mapAnswer(search, (matches) => matchOf(domain, matches));
    return answer(found.withResponse().catch(noneWhenAbsent));
  }
}

/** A service that answers 404 where nobody has the domain says the same as one with an empty page. */
const noneWhenAbsent = (error: unknown): WithResponse<null> => {
  if (!(error instanceof NotFoundError)) throw error;
  const { status, headers, attempts } = error;
  return { data: null, response: { status, headers, attempts, waitedMs: 0 } };
};
