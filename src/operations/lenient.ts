type Fields = Record<string, unknown>;

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isArray = (value: unknown): value is unknown[] => Array.isArray(value);

/** The first of these fields that holds an object. */
const nested = (body: Fields, ...names: readonly string[]): Fields | undefined =>
  names.map((name) => body[name]).find(isObject);

/** Takes a page as documented, as a bare array, or with its records under another name. */
export const readPage = (body: unknown): unknown => {
  if (isArray(body)) return { data: body };
  if (!isObject(body) || isArray(body.data)) return body;
  if (isObject(body.data)) return readPage(body.data);
  const records = Object.values(body).find(isArray);
  return records === undefined ? body : { ...body, data: records };
};

/** Takes a record as it is, or from an envelope such as `{ data }` or `{ company }`; `id` ends up on top. */
const readRecord =
  (...names: readonly string[]) =>
  (body: unknown): unknown => {
    if (!isObject(body)) return body;
    // An id on top is the record's own, whatever else is nested in it.
    const inner = body.id === undefined ? nested(body, "data", ...names) : undefined;
    const flat = inner === undefined ? body : { ...body, ...inner };
    if (flat.id !== undefined) return flat;
    const id = [...names.map((name) => `${name}Id`), "_id"]
      .map((name) => flat[name])
      .find((value) => value !== undefined);
    return id === undefined ? flat : { ...flat, id };
  };

/** Takes a company under `company`, `lead` or `data`; its id also as `companyId` or `leadId`. */
export const readCompany = readRecord("company", "lead");

/** Takes the ids of a new company; those of its people as `contactIds` or from the records under `contacts`. */
export const readCompanyIds = (body: unknown): unknown => {
  const flat = readCompany(body);
  if (!isObject(flat) || flat.contactIds !== undefined || !isArray(flat.contacts)) return flat;
  const ids = flat.contacts.map((contact) => (isObject(contact) ? contact.id : contact));
  return ids.every((id) => typeof id === "string") ? { ...flat, contactIds: ids } : flat;
};

/** Takes the company found by its domain: a page, a bare array, a record, or nothing at all. */
export const readCompanies = (body: unknown): unknown => {
  const page = readPage(body);
  if (isObject(page) && isArray(page.data)) return { data: page.data.map(readCompany) };
  const company = readCompany(body);
  return { data: isObject(company) && company.id !== undefined ? [company] : [] };
};

/** Takes a list under `list` or `data`; its id also as `listId`. */
export const readList = readRecord("list");

const deepestEnvelope = 3;

/** The first object with an id that fits, on top or inside. */
const withId = (
  body: Fields,
  fits: (record: Fields) => boolean,
  depth = deepestEnvelope,
): Fields | undefined => {
  if (body.id !== undefined && fits(body)) return body;
  if (depth === 0) return undefined;
  return Object.values(body)
    .filter(isObject)
    .map((value) => withId(value, fits, depth - 1))
    .find((found) => found !== undefined);
};

const seemsScheduled = ({ sendAt, status }: Fields): boolean => sendAt !== undefined || status !== undefined;

/** Takes a scheduled email on top or nested (`scheduled`, `email`, `data`, …): `id` ends up on top. */
export const readScheduledEmail = (body: unknown): unknown => {
  if (!isObject(body) || body.id !== undefined) return body;
  const known = readRecord("scheduledEmail", "email", "scheduled")(body);
  if (isObject(known) && known.id !== undefined) return known;
  // A contact, say, may be nested beside it.
  const inner = withId(body, seemsScheduled) ?? withId(body, () => true);
  return inner === undefined ? known : { ...body, ...inner };
};

/** Takes a page of scheduled emails, each as above. */
export const readScheduledPage = (body: unknown): unknown => {
  const page = readPage(body);
  return isObject(page) && isArray(page.data) ? { ...page, data: page.data.map(readScheduledEmail) } : page;
};
