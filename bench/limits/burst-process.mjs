// A process that burst.ts starts: makes one call with the built package and limits in PostgreSQL.
import pg from "pg";
import { Client } from "../../dist/index.js";
import { sqlLimits } from "../../dist/sql.js";

const [, , database, baseUrl] = process.argv;
const pool = new pg.Pool({ connectionString: database, max: 1 });
const query = async (sql, params) => (await pool.query(sql, [...params])).rows;
const limits = sqlLimits(query, { dialect: "postgres", id: "burst" });
const client = new Client({ apiKey: "key", baseUrl, limits });
await client.request({ method: "GET", path: "/api/v1/contacts" });
await client.close();
await pool.end();
