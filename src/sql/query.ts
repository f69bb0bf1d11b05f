import { ConfigurationError } from "../errors.ts";
import { AdapterFault } from "../ledger/ledger-over.ts";
import { must, mustBeOneOf, type Rules, refuseSetup, ruleFaults } from "../runtime/rules.ts";
import { isRecord, messageOf } from "../runtime/values.ts";

/** The database behind a store. */
export type SqlDialect = "postgres" | "sqlite";

/**
 * Runs one statement on its own connection, outside of any transaction. Resolves with the rows of the statement after
 * the commit. Parameters are strings and null. The placeholders are `$1, $2, …` for PostgreSQL and `?` for SQLite.
 *
 * @example
 * ```ts
 * import type { SqlQuery } from "touchpoint-sdk/sql";
 *
 * declare const pool: { query(sql: string, params: unknown[]): Promise<{ rows: object[] }> }; // of `pg`
 * const query: SqlQuery = async (sql, params) => (await pool.query(sql, [...params])).rows;
 * ```
 */
export type SqlQuery = (
  sql: string,
  params: readonly (string | null)[],
) => Promise<readonly object[]> | readonly object[];

/** A row, by the names of its columns. */
export type Row = Readonly<Record<string, unknown>>;

/** Runs a statement with `?` for each parameter, in the order of the parameters. */
export type Run = (sql: string, ...params: readonly (string | null)[]) => Promise<readonly Row[]>;

const plainName = /^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)?$/;

const isPlainName = (table: unknown): boolean => typeof table === "string" && plainName.test(table);

/** The rule for a table's name, which becomes a part of the SQL. */
export const mustBeTable = must("a name of letters, digits and _, or schema.name", isPlainName);

export const mustBeDialect = mustBeOneOf("postgres", "sqlite");

export const mustBeQuery = must("a function of (sql, params)", (query) => typeof query === "function");

/**
 * Checks the options of a store.
 *
 * @param own - the rules of the store's required options, besides the dialect.
 * @throws ConfigurationError naming every fault of the arguments at once.
 */
export const storeOptions = <T extends object>(store: string, query: unknown, options: T, own: Rules): T => {
  const rules = { dialect: mustBeDialect, ...own };
  const faults = ruleFaults(options, { ...rules, table: mustBeTable }, { required: Object.keys(rules) });
  refuseSetup(store, [...mustBeQuery(query, "query"), ...faults]);
  return options;
};

// After a serialization failure or a deadlock, PostgreSQL has rolled the statement back, so it can run again.
const rolledBackCodes: readonly string[] = ["40001", "40P01"];
const maxRepeats = 20;

/** The codes of an error, and of the errors inside it. */
const codesOf = (error: unknown, levels = 5): readonly string[] => {
  const { code, errcode, errno, originalCode, cause, parent, meta }: Record<string, unknown> = Object(error);
  // Most libraries keep the original error as `cause`, Sequelize as `parent`, and Prisma as `meta.driverAdapterError`.
  const inner = levels > 0 ? [cause, parent, Object(meta).driverAdapterError] : [];
  // `node:sqlite` has a number as `errcode`. Bun.sql has PostgreSQL's code as `errno`, which is a number elsewhere.
  const sqlite = typeof errcode === "number" ? `SQLITE ${errcode & 255}` : "";
  const own = [code, originalCode, sqlite, errno].filter((one) => typeof one === "string" && one !== "");
  return [...own.map(String), ...inner.filter(Boolean).flatMap((one) => codesOf(one, levels - 1))];
};

const isRolledBack = (error: unknown): boolean =>
  codesOf(error).some((code) => rolledBackCodes.includes(code));

const missingTable = /no such table|relation .*does not exist/i;

const isMissingTable = (error: unknown): boolean =>
  codesOf(error).includes("42P01") || missingTable.test(messageOf(error));

/** The hint for a query function that drops the rows of INSERT … RETURNING, or renames their columns. */
export const mustReturnRows =
  "the query function must return the rows of every statement, including statements that write and have RETURNING (use all(), not run()), and must not rename columns (once_key, not onceKey)";

// A quoted name may contain the words of `refusal`, so `isRefusal` ignores quoted names.
const quoted = /"[^"]*"|'[^']*'|`[^`]*`/g;
// The messages of PostgreSQL and SQLite for a missing privilege, a read-only database, and a table with other columns.
const refusal = /permission denied|read-?only|no such column|column .*does not exist|not authorized/i;
// The codes of the same errors. SQLITE_PERM is 3, SQLITE_READONLY 8, SQLITE_AUTH 23.
const refusalCode = /^(42501|25006|42703|42P01|SQLITE_(PERM|READONLY|AUTH).*|SQLITE (3|8|23))$/;
// Codes that identify the error. SQLITE_ERROR (1) does not, because many different errors have that code.
const clearCode = /^((\d[\dA-Z]|F0|HV|P0|XX)[\dA-Z]{3}|SQLITE_(?!ERROR).*|SQLITE (?!1$).*)$/;

/**
 * Whether the database would refuse the statement every time. The message decides only if no code identifies the error.
 */
export const isRefusal = (error: unknown): boolean => {
  const codes = codesOf(error).filter((code) => clearCode.test(code));
  if (codes.length > 0) return codes.some((code) => refusalCode.test(code));
  const words = messageOf(error).replace(quoted, "");
  return refusal.test(words) || missingTable.test(words);
};

const mustReturnArray =
  "query must return an array of rows, one object each, for example (await pool.query(sql, params)).rows";

/** The rows in the result of a query function. @throws AdapterFault for any other result. */
const rowsOf = (answer: unknown, store: string): readonly Row[] => {
  // For an UPDATE or DELETE, TypeORM returns a pair: an array of the rows, and their number.
  const isPair = Array.isArray(answer) && answer.length === 2 && Array.isArray(answer[0]);
  const rows: unknown = isPair && typeof answer[1] === "number" ? answer[0] : answer;
  // A row grants a claim, so refuse an array that contains anything other than rows.
  if (!Array.isArray(rows) || !rows.every(isRecord)) throw new AdapterFault(`${store}: ${mustReturnArray}`);
  return rows;
};

/**
 * Creates a function that runs statements of a dialect. The function throws a ConfigurationError that names the store.
 * If the table is missing, the error includes `missingAdvice`.
 */
export const runner = (query: SqlQuery, dialect: SqlDialect, store: string, missingAdvice: string): Run => {
  // PostgreSQL numbers its parameters.
  const numbered = (sql: string): string =>
    sql.split("?").reduce((text, rest, number) => `${text}$${number}${rest}`);
  return async (sql, ...params) => {
    const text = dialect === "postgres" ? numbered(sql) : sql;
    for (let repeat = 0; ; repeat += 1) {
      try {
        return rowsOf(await query(text, params), store);
      } catch (cause) {
        if (cause instanceof AdapterFault) throw cause;
        if (isRolledBack(cause) && repeat < maxRepeats) continue;
        const advice = isMissingTable(cause) ? ` (${missingAdvice})` : "";
        throw new ConfigurationError(`${store}: ${messageOf(cause)}${advice}`, { cause });
      }
    }
  };
};

// Every parameter is sent as text, because a driver may give a number a type that the column does not have.
/** A parameter as text. */
export const asText = "CAST(? AS text)";

/** A parameter as an integer. */
export const asInteger: Readonly<Record<SqlDialect, string>> = {
  postgres: "CAST(CAST(? AS text) AS bigint)",
  sqlite: "CAST(? AS integer)",
};

/** The time of the database, in milliseconds since 1970. */
export const now: Readonly<Record<SqlDialect, string>> = {
  postgres: "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint)",
  sqlite: "CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer)",
};
