import type { Change, Place, StoredValues } from "../fleet/place.ts";
import { AdapterFault } from "../ledger/ledger-over.ts";
import { messageOf } from "../runtime/values.ts";
import { asText, isRefusal, mustReturnRows, now, type Row, type Run, type SqlDialect } from "./query.ts";

/** Repeats `text` for each of `count` items. */
const each = (text: string, count: number, separator = ", "): string =>
  Array(count).fill(text).join(separator);

/**
 * Writes all rows if each still has its known version; otherwise writes none. Returns the rows as they were before the
 * write, and the number of written rows.
 *
 * `locked` waits for other writers, and then contains the latest rows. It locks rows in the order of their ids, so two
 * writers cannot deadlock.
 */
const writeInPostgres = (table: string, count: number): string => {
  const row = `(${each(asText, 4)})`;
  return (
    `WITH known (id, version, next_version, state) AS (VALUES ${each(row, count)}), ` +
    `locked AS (SELECT id, version, state FROM ${table} WHERE id IN (SELECT id FROM known) ORDER BY id FOR UPDATE), ` +
    `written AS (UPDATE ${table} AS target SET version = known.next_version, state = known.state FROM known ` +
    "WHERE target.id = known.id AND (SELECT count(*) FROM locked JOIN known AS unchanged " +
    `ON unchanged.id = locked.id AND unchanged.version = locked.version) = ${count} RETURNING target.id) ` +
    `SELECT id, version, state, ${now.postgres} AS now, (SELECT count(*) FROM written) AS written FROM locked`
  );
};

/** Does the same in SQLite, but returns the written rows with their new versions; no rows if it wrote none. */
const writeInSqlite = (table: string, count: number): string => {
  const byId = (column: string): string =>
    `${column} = CASE id ${each(`WHEN ${asText} THEN ${asText}`, count, " ")} END`;
  const unchanged = each(`(id = ${asText} AND version = ${asText})`, count, " OR ");
  return (
    `UPDATE ${table} SET ${byId("version")}, ${byId("state")} WHERE id IN (${each(asText, count)}) ` +
    `AND (SELECT count(*) FROM ${table} WHERE ${unchanged}) = ${count} RETURNING id, version, ${now.sqlite} AS now`
  );
};

/** Stores shared limits in the table. */
export const sqlPlace = (run: Run, table: string, dialect: SqlDialect): Place => {
  const select = (keys: readonly string[]): Promise<readonly Row[]> =>
    run(
      `SELECT id, version, state, ${now[dialect]} AS now FROM ${table} WHERE id IN (${each(asText, keys.length)})`,
      ...keys,
    );

  /** The values of all keys; undefined if a row is missing. */
  const valuesOf = (keys: readonly string[], rows: readonly Row[]): StoredValues | undefined => {
    const byId = new Map(rows.map((row) => [row.id, row]));
    const values = keys.flatMap((key) => {
      const row = byId.get(key);
      return row === undefined ? [] : { version: String(row.version), value: String(row.state) };
    });
    return values.length < keys.length
      ? undefined
      : { now: Math.min(...rows.map((row) => Number(row.now))), values };
  };

  const read = async (keys: readonly string[]): Promise<StoredValues> => {
    const values = valuesOf(keys, await select(keys));
    if (values !== undefined) return values;
    const rows = each(`(${asText}, '', '')`, keys.length);
    const insert = `INSERT INTO ${table} (id, version, state) VALUES ${rows} ON CONFLICT (id) DO NOTHING RETURNING id`;
    await run(insert, ...keys);
    const inserted = valuesOf(keys, await select(keys));
    if (inserted === undefined) throw new AdapterFault(mustReturnRows);
    return inserted;
  };

  const writeRows = (changes: readonly Change[]): Promise<readonly Row[]> => {
    if (dialect === "postgres") {
      const rows = changes.flatMap(({ key, expected, version, value }) => [key, expected, version, value]);
      return run(writeInPostgres(table, changes.length), ...rows);
    }
    return run(
      writeInSqlite(table, changes.length),
      ...changes.flatMap(({ key, version }) => [key, version]),
      ...changes.flatMap(({ key, value }) => [key, value]),
      ...changes.map(({ key }) => key),
      ...changes.flatMap(({ key, expected }) => [key, expected]),
    );
  };

  return {
    name: "the database",
    read,
    write: async (changes) => {
      const keys = changes.map(({ key }) => key);
      const rows = await writeRows(changes);
      const isWritten =
        rows.length === changes.length &&
        rows.every(({ id, version, written }) =>
          dialect === "postgres"
            ? Number(written) === changes.length
            : changes.some((change) => change.key === id && change.version === version),
        );
      if (isWritten) return { isWritten, now: Math.min(...rows.map((row) => Number(row.now))), values: [] };
      return {
        isWritten,
        ...((dialect === "postgres" ? valuesOf(keys, rows) : undefined) ?? (await read(keys))),
      };
    },
    faultOf: (error) => {
      const isLasting = error instanceof AdapterFault || isRefusal(error);
      return { what: `failed: ${messageOf(error)}`, cause: error, isLasting };
    },
  };
};
