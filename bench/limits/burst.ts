import { spawn } from "node:child_process";
import { once } from "node:events";
import { setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { Pool } from "pg";
import { documentedLimits } from "../../src/options/limits.ts";
import { migration } from "../../src/sql/index.ts";
import { PostgresServer } from "../../test/support/postgres-server.ts";
import { limitedService } from "./over-sockets.ts";

const processes = 200;

/** Starts 200 processes at once that share one PostgreSQL and make one call each. Needs a build. */
export const burstCells = async (): Promise<void> => {
  const server = await PostgresServer.start("fsync=off", "max_connections=250");
  const pool = new Pool({ connectionString: server.url, max: 1 });
  await pool.query(migration("postgres"));
  const service = await limitedService("sliding", documentedLimits, 50);
  const program = fileURLToPath(new URL("burst-process.mjs", import.meta.url));
  const since = performance.now();
  const codes = await Promise.all(
    Array.from({ length: processes }, async () => {
      const child = spawn(process.execPath, [program, server.url, service.url], { stdio: "inherit" });
      // The service and the database represent other machines, so the clients must not take their CPU time.
      if (child.pid !== undefined) setPriority(child.pid, 19);
      const [code] = await once(child, "exit");
      return code;
    }),
  );
  const tookS = ((performance.now() - since) / 1_000).toFixed(1);
  const { accepted, refused } = service.limiters.requests;
  const ok = codes.filter((code) => code === 0).length;
  console.log(
    `${processes} processes, one call each, on one PostgreSQL: ${ok} answered, ${accepted} accepted, ${refused} x 429, ${tookS} s`,
  );
  service.server.close();
  await pool.end();
  await server.stop();
};
