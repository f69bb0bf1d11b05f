import { type ApiPromise, answer, type WithResponse } from "../call/api-promise.ts";
import type { Call } from "../call/call.ts";
import { sendRequest } from "../call/executor.ts";
import { NotFoundError } from "../errors.ts";
import type { CallOptions } from "../options/options.ts";
import { contactsWith } from "../paging/matching.ts";
import type { PagingOptions } from "../paging/paged.ts";
import { bindMethods } from "../runtime/bound-methods.ts";
import { foldAscii } from "../runtime/fold-ascii.ts";
import type {
  Company,
  CompanyCreated,
  CompanyInput,
  CompanyMatches,
  CompanyPatch,
} from "../service/companies.ts";
import type { Contact } from "../service/contacts.ts";
import { operations } from "../service/operations.ts";

/** Picks the company with the domain. If the only record has no domain, the service is trusted to have found the company. */
const matchOf = (domain: string, { data }: CompanyMatches): Company | null => {
  const withDomain = data.filter((company) => typeof company?.domain === "string");
  const exact = withDomain.find((company) => foldAscii(company.domain ?? "") === foldAscii(domain));
  if (exact !== undefined) return exact;
  const [only] = data;
  return withDomain.length === 0 && data.length === 1 && only !== undefined ? only : null;
};

/** Companies. Use it as `client.companies`. Scope names and contact fields call a company a lead. */
export class Companies {
  readonly #call: Call;

  /** @internal */
  constructor(call: Call) {
    this.#call = call;
    bindMethods(this);
  }

  /**
   * Creates a company with its contacts in one call. If a company has the `domain` already, the service updates it.
   *
   * A call with a `domain` is therefore retried after a lost response; a call without one is not.
   *
   * Inferred, because the document gives no method and no path: `POST /api/v1/companies`. The option `routes` corrects method
   * and path.
   *
   * @returns the ids of the records. The field names are not documented; the library always calls the company's id `id`.
   * @throws BadRequestError when a field is invalid.
   * @example
   * ```ts
   * const { id } = await client.companies.create({
   *   companyName: "Analytical Engines",
   *   domain: "engines.example",
   *   contacts: [{ email: "ada@example.com", title: "Engineer" }],
   * });
   * ```
   * Scopes: `leads:write` and `contacts:write`. Source: service document, Companies (create), and Company, `domain`.
   */
  create(input: CompanyInput, options?: CallOptions): ApiPromise<CompanyCreated> {
    return sendRequest(this.#call, operations.companies.create, { payload: input }, options);
  }

  /**
   * Changes the given fields of a company.
   *
   * @returns the company; only its `id` if the response is empty. Neither the fields nor the response are documented.
   * @throws NotFoundError when the workspace has no company with the id.
   * @throws ConflictError when another company has the new domain.
   * @example
   * ```ts
   * await client.companies.update("company-1", { industry: "Computing" });
   * ```
   * Scope: `leads:write`. Source: service document, Companies, PATCH.
   */
  update(id: string, patch: CompanyPatch, options?: CallOptions): ApiPromise<Company> {
    return sendRequest(this.#call, operations.companies.update, { id, payload: patch }, options);
  }

  /**
   * Finds the company with a domain. Upper and lower case do not matter.
   *
   * Inferred, because the document gives no method, path or response: `GET /api/v1/companies?domain=…`, which returns a page,
   * an array or a record. The option `routes` corrects method and path.
   *
   * @returns the company, or `null` if there is none.
   * @throws ValidationError for a blank domain; nothing was sent.
   * @example
   * ```ts
   * const company = await client.companies.findByDomain("engines.example");
   * console.log(company?.companyName ?? "no such company");
   * ```
   * Scope: none documented, as for every read. Source: service document, Companies, "find-by-domain operation".
   */
  findByDomain(domain: string, options?: CallOptions): ApiPromise<Company | null> {
    const search = sendRequest(
      this.#call,
      operations.companies.findByDomain,
      { payload: { domain } },
      options,
    );
    const company = search
      .withResponse()
      .then(({ data, response }) => ({ data: matchOf(domain, data), response }), nullForNotFound);
    return answer(company);
  }

  /**
   * Iterates the contacts of a company. The service has no such query, so this method reads the complete list of contacts,
   * 200 per request, and yields those whose `leadId` is the id. 100,000 contacts take 500 requests, about 50 seconds.
   *
   * @param options - as for `contacts.list`.
   * @example
   * ```ts
   * for await (const contact of client.companies.contacts("company-1")) console.log(contact.email);
   * ```
   * Scope: none documented, as for every read. Source: service document, Contact, `leadId`.
   */
  contacts(id: string, options?: CallOptions & PagingOptions): AsyncIterable<Contact> {
    return contactsWith(
      this.#call,
      { operation: "companies.contacts", id, options },
      ({ leadId }) => leadId === id,
    );
  }
}

/** Converts a 404 to `null`. If no company has the domain, a service may answer 404 instead of an empty page. */
const nullForNotFound = (error: unknown): WithResponse<null> => {
  if (!(error instanceof NotFoundError)) throw error;
  const { status, headers, attempts } = error;
  return { data: null, response: { status, headers, attempts, waitedMs: 0 } };
};
