// Queues an email inside a transaction. It is sent once if the transaction commits, and never if it is rolled back.
import type { ClientBase } from "pg";
import type { PgBoss } from "pg-boss";

/** Runs `work` in a transaction. What `work` passes to `enqueue` becomes a job when the transaction commits. */
export const transaction = async (
  connection: ClientBase,
  boss: PgBoss,
  work: (enqueue: (queue: string, data: object) => Promise<unknown>) => Promise<void>,
): Promise<void> => {
  // pg-boss writes the job through the transaction's own connection.
  const db = { executeSql: (text: string, values: unknown[]) => connection.query(text, values) };
  await connection.query("BEGIN");
  try {
    await work((queue, data) => boss.send(queue, data, { db }));
    await connection.query("COMMIT");
  } catch (error) {
    await connection.query("ROLLBACK");
    throw error;
  }
};
