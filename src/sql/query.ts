import { ConfigurationError } from "../errors.ts";
import { AdapterFault } from "../ledger/ledger-over.ts";
import { isOneOf, must, type Rules, refuseSetup, ruleFaults } from "../runtime/rules.ts";
import { isRecord, messageOf } from "../runtime/values.ts";

/** The database behind a store. */
export type SqlDialect = "postgres" | "sqlite";

/**
 * Runs one statement on a connection of its own, outside of any transaction, and resolves with its rows once it is
 * committed. Parameters are strings and null. PostgreSQL gets `$1, $2, …`, SQLite `?`.
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

/** For a table's name, which is written into statements. */
export const isTable = must("a name of letters, digits and _, or schema.name", isPlainName);

export const isDialect = isOneOf("postgres", "sqlite");

export const isQuery = must("a function of (sql, params)", (query) => typeof query === "function");

/**
 * The options of a store.
 *
 * @param own - the rules of the options that it needs besides the dialect.
 * @throws ConfigurationError naming every fault of the arguments at once.
 */
export const storeOptions = <T extends object>(store: string, query: unknown, options: T, own: Rules): T => {
  const rules = { dialect: isDialect, ...own };
  const faults = ruleFaults(options, { ...rules, table: isTable }, { required: Object.keys(rules) });
  refuseSetup(store, [...isQuery(query, "query"), ...faults]);
  return options;
};

// PostgreSQL rolled the statement back, so that it may run again: a serialization failure, a deadlock.
const rolledBack: readonly string[] = ["40001", "40P01"];
const mostRepeats = 20;

/** The codes of an error, and of the errors inside it. */
const codesOf = (error: unknown, levels = 5): readonly string[] => {
  const { code, errcode, errno, originalCode, cause, parent, meta }: Record<string, unknown> = Object(error);
  // Most libraries wrap an error as `cause`, Sequelize as `parent`, Prisma as below.
  const inner = levels > 0 ? [cause, parent, Object(meta).driverAdapterError] : [];
  // `node:sqlite` has numbers, and Bun.sql the code of PostgreSQL as `errno`, which is a number elsewhere.
  const sqlite = typeof errcode === "number" ? `SQLITE ${errcode & 255}` : "";
  const own = [code, originalCode, sqlite, errno].filter((one) => typeof one === "string" && one !== "");
  return [...own.map(String), ...inner.filter(Boolean).flatMap((one) => codesOf(one, levels - 1))];
};

const isRolledBack = (error: unknown): boolean => codesOf(error).some((code) => rolledBack.includes(code));

const missing = /no such table|relation .*does not exist/i;

const isMissing = (error: unknown): boolean =>
  codesOf(error).includes("42P01") || missing.test(messageOf(error));

/** What a query function must do that drops the rows of INSERT … RETURNING, or renames their columns. */
export const mustReturnRows =
  "the query function must return the rows of every statement, including statements that write and have RETURNING (use all(), not run()), and must not rename columns (once_key, not onceKey)";

// A table may have any name.
const quoted = /"[^"]*"|'[^']*'|`[^`]*`/g;
// The words of PostgreSQL and SQLite for a missing privilege, a read-only database and a table of another form.
const refusal = /permission denied|read-?only|no such column|column .*does not exist|not authorized/i;
// The same as codes: SQLITE_PERM is 3, SQLITE_READONLY 8, SQLITE_AUTH 23.
const refusalCode = /^(42501|25006|42703|42P01|SQLITE_(PERM|READONLY|AUTH).*|SQLITE (3|8|23))$/;
// Codes that say what happened: SQLITE_ERROR, which is 1, is also that of a missing column.
const clearCode = /^((\d[\dA-Z]|F0|HV|P0|XX)[\dA-Z]{3}|SQLITE_(?!ERROR).*|SQLITE (?!1$).*)$/;

/** Whether the database would refuse the statement again and again. Words decide only where no code does. */
export const isRefusal = (error: unknown): boolean => {
  const codes = codesOf(error).filter((code) => clearCode.test(code));
  if (codes.length > 0) return codes.some((code) => refusalCode.test(code));
  const words = messageOf(error).replace(quoted, "");
  return refusal.test(words) || missing.test(words);
};

const mustReturn =
  "query must return an array of rows, one object each, for example (await pool.query(sql, params)).rows";

/** The rows of an answer. @throws AdapterFault if it is another thing. */
const rowsOf = (answer: unknown, store: string): readonly Row[] => {
  // TypeORM answers an UPDATE or DELETE with its rows and their number.
  const isPair = Array.isArray(answer) && answer.length === 2 && Array.isArray(answer[0]);
  const rows: unknown = isPair && typeof answer[1] === "number" ? answer[0] : answer;
  // Any array with a row in it would grant a claim: a driver's result must not be taken for rows.
  if (!Array.isArray(rows) || !rows.every(isRecord)) throw new AdapterFault(`${store}: ${mustReturn}`);
  return rows;
};

/**
 * Runs statements of a dialect.
 *
 * @throws ConfigurationError that names the store; if its table is missing, with the advice `createIt`.
 */
export const runner = (query: SqlQuery, dialect: SqlDialect, store: string, createIt: string): Run => {
  // PostgreSQL numbers its parameters.
  const numbered = (sql: string): string => sql.split("?").reduce((text, rest, at) => `${text}$${at}${rest}`);
  return async (sql, ...params) => {
    const text = dialect === "postgres" ? numbered(sql) : sql;
    for (let repeat = 0; ; repeat += 1) {
      try {
        return rowsOf(await query(text, params), store);
      } catch (cause) {
        if (cause instanceof AdapterFault) throw cause;
        if (isRolledBack(cause) && repeat < mostRepeats) continue;
        const advice = isMissing(cause) ? ` (${createIt})` : "";
        throw new ConfigurationError(`${store}: ${messageOf(cause)}${advice}`, { cause });
      }
    }
  };
};

// Parameters are text in every driver: a driver may take a number for a type that the column does not have.
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
