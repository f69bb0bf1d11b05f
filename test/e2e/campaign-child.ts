import { appendFileSync } from "node:fs";
import { Client, fileLedger, isTouchpointError } from "touchpoint-sdk";

/**
 * A program that ingests events, sends emails under keys, and schedules, changes and cancels others; it says at once
 * what became of each email. In its last life it cancels none. At SIGTERM it closes gracefully, and exits.
 */
const [, , baseUrl = "", folder = "", count = "0", told = "", isLast = ""] = process.argv;
const client = new Client(
  {
    baseUrl,
    apiKey: "killed",
    limits: false,
    timeoutMs: 1_000,
    ledger: fileLedger(`${folder}/ledger`),
  },
  { random: () => 0 },
);
const numbers = Array.from({ length: Number(count) }, (_, number) => number);

const ingest = async (): Promise<void> => {
  const events = numbers.map((number) => ({
    name: `event-${number}`,
    contact: { email: "ada@example.com" },
  }));
  for (let runsLeft = 50; ; runsLeft -= 1) {
    try {
      const { unknown } = await client.events.ingest(events, {
        checkpoint: `${folder}/checkpoint`,
        batchSize: 3,
        concurrency: 2,
      });
      if (unknown === 0) return;
    } catch (error) {
      if (!isTouchpointError(error) || runsLeft === 1) throw error;
    }
  }
};

const tell = (subject: string, outcome: string): void =>
  // At once, because the next moment may be the last.
  appendFileSync(told, `${JSON.stringify([subject, outcome])}\n`);

const outcomeOf = (error: unknown): string => (isTouchpointError(error) ? error.outcome : "no error of ours");

const send = async (number: number): Promise<void> => {
  const subject = `email-${number}`;
  const email = { to: "ada@example.com", subject, text: "." };
  tell(subject, await client.emails.send(email, { once: subject }).then(() => "sent", outcomeOf));
};

const schedule = async (number: number): Promise<void> => {
  const subject = `later-${number}`;
  const email = { to: "ada@example.com", subject, text: ".", sendAt: "2099-01-01T09:00:00Z" };
  const kept = await client.emails.schedule(email, { once: subject }).catch(outcomeOf);
  tell(subject, typeof kept === "string" ? kept : "sent");
  if (typeof kept === "string") return;
  await client.emails.scheduled.update(kept.id, { text: ".." }).catch(() => undefined);
  if (isLast !== "") return;
  tell(subject, "cancelling");
  await client.emails.scheduled.cancel(kept.id).then(
    () => tell(subject, "cancelled"),
    () => undefined,
  );
};

const left = numbers.filter((number) => number % 3 < 2);
const emails = async (): Promise<void> => {
  const work = async (): Promise<void> => {
    for (let number = left.shift(); number !== undefined; number = left.shift())
      await (number % 3 === 0 ? send(number) : schedule(number));
  };
  await Promise.all([work(), work()]);
};

process.once("SIGTERM", async () => {
  left.length = 0;
  await client.close({ graceMs: 25_000 });
  process.exit(0);
});
// SIGTERM closes the client, so the ingestion of every run but the last may reject.
await Promise.allSettled([ingest(), emails()]).then(([events]) => {
  if (events.status === "rejected" && isLast !== "") throw events.reason;
});
await client.close();
