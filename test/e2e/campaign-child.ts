import { appendFileSync } from "node:fs";
import { Client, fileLedger, isTouchpointError } from "touchpoint-sdk";

/** A program that ingests events and sends emails under keys, and says at once what became of each email. */
const [, , baseUrl = "", folder = "", count = "0", told = ""] = process.argv;
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

const send = async (number: number): Promise<void> => {
  const subject = `email-${number}`;
  const outcome = await client.emails
    .send({ to: "ada@example.com", subject, text: "." }, { once: subject })
    .then(
      () => "sent",
      (error: unknown) => (isTouchpointError(error) ? error.outcome : "no error of ours"),
    );
  // At once, because the next moment may be the last.
  appendFileSync(told, `${JSON.stringify([subject, outcome])}\n`);
};

const sendAll = async (): Promise<void> => {
  const left = numbers.filter((number) => number % 3 === 0);
  const work = async (): Promise<void> => {
    for (let number = left.shift(); number !== undefined; number = left.shift()) await send(number);
  };
  await Promise.all([work(), work()]);
};

await Promise.all([ingest(), sendAll()]);
await client.close();
