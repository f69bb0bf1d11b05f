// The job as a worker: no files, what it needs is in its bindings.
import { memoryLedger } from "touchpoint-sdk";
import { run, stepsOf } from "./steps.mjs";

let saved;
const checkpoint = {
  load: async () => saved,
  save: async (progress) => {
    saved = progress;
  },
};

export default {
  async fetch(_request, { PLAIN_URL, STALLING_URL, RESETTING_URL }) {
    const services = { plain: PLAIN_URL, stalling: STALLING_URL, resetting: RESETTING_URL };
    const { steps } = stepsOf({ ...services, ledger: memoryLedger(), checkpoint });
    const lines = [];
    for await (const line of run(steps)) lines.push(line);
    return new Response(lines.join("\n"));
  },
};
