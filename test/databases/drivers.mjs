// The drivers of the table in docs/guide/sql.md. Each opens a database, and names its handles as the table does. JavaScript,
// because the types of the drivers are not installed with those of the repository.
import { join } from "node:path";

const postgres = (open) => ({ dialect: "postgres", open });
const sqlite = (open) => ({ dialect: "sqlite", open });

// What the guide sets for a file.
const pragmas = ["PRAGMA busy_timeout = 5000", "PRAGMA synchronous = FULL"];

export const drivers = {
  pg: postgres(async (url) => {
    const { Pool } = await import("pg");
    const pool = new Pool({ connectionString: url });
    // Without a listener, the loss of an idle connection ends the process.
    pool.on("error", () => undefined);
    return { handles: { pool }, close: () => pool.end() };
  }),
  "postgres.js": postgres(async (url) => {
    const { default: connect } = await import("postgres");
    const db = connect(url);
    const camel = connect(url, { transform: connect.camel });
    // Without a time-out, end() never resolves after a connection was lost in the middle of a statement.
    const close = () => Promise.all([db, camel].map((one) => one.end({ timeout: 5 })));
    return { handles: { db, camel }, close };
  }),
  PGlite: postgres(async (_url, _folder, migration) => {
    const { PGlite } = await import("@electric-sql/pglite");
    const db = await PGlite.create();
    await db.exec(migration);
    return { handles: { db }, close: () => db.close() };
  }),
  Drizzle: postgres(async (url) => {
    const { drizzle } = await import("drizzle-orm/node-postgres");
    const db = drizzle(url);
    return { handles: { db }, close: () => db.$client.end() };
  }),
  Kysely: postgres(async (url) => {
    const { CamelCasePlugin, CompiledQuery, Kysely, PostgresDialect } = await import("kysely");
    const { Pool } = await import("pg");
    const pool = new Pool({ connectionString: url });
    // Kysely listens to no error of a connection that it uses: its loss, too, would end the process.
    pool.on("error", () => undefined);
    pool.on("connect", (client) => client.on("error", () => undefined));
    const dialect = new PostgresDialect({ pool });
    // The plugin that renames columns: the guide's line leaves it out.
    const db = new Kysely({ dialect, plugins: [new CamelCasePlugin()] });
    return { handles: { db, CompiledQuery }, close: () => db.destroy() };
  }),
  Knex: postgres(async (url) => {
    const { default: connect } = await import("knex");
    // It prints each lost connection.
    const log = { warn: () => undefined };
    const db = connect({ client: "pg", connection: url, log });
    return { handles: { db }, close: () => db.destroy() };
  }),
  TypeORM: postgres(async (url) => {
    const { DataSource } = await import("typeorm");
    const db = await new DataSource({ type: "postgres", url }).initialize();
    return { handles: { db }, close: () => db.destroy() };
  }),
  Sequelize: postgres(async (url) => {
    const { Sequelize } = await import("sequelize");
    const db = new Sequelize(url, { logging: false });
    return { handles: { db }, close: () => db.close() };
  }),
  Slonik: postgres(async (url) => {
    const { createPool, sql: tag } = await import("slonik");
    const { createPgDriverFactory } = await import("@slonik/pg-driver");
    const db = await createPool(url, { driverFactory: createPgDriverFactory() });
    return { handles: { db, tag }, close: () => db.end() };
  }),
  "pg-promise": postgres(async (url) => {
    const { default: pgPromise } = await import("pg-promise");
    const db = pgPromise()(url);
    return { handles: { db }, close: () => db.$pool.end() };
  }),
  MikroORM: postgres(async (url) => {
    const { EntitySchema, MikroORM } = await import("@mikro-orm/postgresql");
    // It starts with one entity at least.
    const Row = new EntitySchema({ name: "Row", properties: { id: { type: "number", primary: true } } });
    const db = await MikroORM.init({ clientUrl: url, entities: [Row] });
    return { handles: { db }, close: () => db.close() };
  }),
  Prisma: postgres(async (url) => {
    const { PrismaClient } = await import("@prisma/client");
    const { PrismaPg } = await import("@prisma/adapter-pg");
    const db = new PrismaClient({ adapter: new PrismaPg({ connectionString: url }) });
    return { handles: { db }, close: () => db.$disconnect() };
  }),
  "node:sqlite": sqlite(async (_url, folder, migration) => {
    const { DatabaseSync } = await import("node:sqlite");
    const db = new DatabaseSync(join(folder, "keys.db"));
    for (const statement of [...pragmas, migration]) db.exec(statement);
    return { handles: { db }, close: () => db.close() };
  }),
  libSQL: sqlite(async (_url, folder, migration) => {
    const { createClient } = await import("@libsql/client");
    const db = createClient({ url: `file:${join(folder, "keys.db")}` });
    for (const statement of pragmas) await db.execute(statement);
    await db.executeMultiple(migration);
    return { handles: { db }, close: () => db.close() };
  }),
  D1: sqlite(async (_url, _folder, migration) => {
    const { Miniflare } = await import("miniflare");
    const script = "export default { fetch: () => new Response() };";
    const worker = new Miniflare({ modules: true, script, d1Databases: ["DB"] });
    const db = await worker.getD1Database("DB");
    await db.exec(migration);
    return { handles: { db }, close: () => worker.dispose() };
  }),
  "bun:sqlite": sqlite(async (_url, folder, migration) => {
    const { Database } = await import("bun:sqlite");
    const db = new Database(join(folder, "keys.db"));
    for (const statement of [...pragmas, migration]) db.exec(statement);
    return { handles: { db }, close: () => db.close() };
  }),
  "Bun.sql": postgres(async (url) => {
    const { SQL } = await import("bun");
    const db = new SQL(url, { prepare: false });
    return { handles: { db }, close: () => db.end() };
  }),
};

export const openBunRedis = async (url) => {
  const { RedisClient } = await import("bun");
  const redis = new RedisClient(url);
  return { redis, close: () => redis.close() };
};

export const openIovalkey = async (url) => {
  const { Redis } = await import("iovalkey");
  const redis = new Redis(url);
  return { redis, close: () => redis.disconnect() };
};

export const openUpstash = async (url) => {
  const { Redis } = await import("@upstash/redis");
  return { redis: new Redis({ url, token: "x" }), close: () => undefined };
};
