import fc from "fast-check";
import { expect, test } from "vitest";
import { anyJob } from "./campaign-jobs.ts";
import { runCampaign, type Tally } from "./campaign-run.ts";
import { campaignSeed as seed } from "./campaign-seed.ts";

const callsPerRun = 500;
const calls = Number(process.env.TOUCHPOINT_CAMPAIGN_CALLS ?? 3_000);

const add = (a: Tally, b: Tally): Tally => ({
  calls: a.calls + b.calls,
  requests: a.requests + b.requests,
  faults: a.faults + b.faults,
  answered: a.answered + b.answered,
  failed: a.failed + b.failed,
  aborted: a.aborted + b.aborted,
  breaches: [...a.breaches, ...b.breaches],
});

const nothing: Tally = { calls: 0, requests: 0, faults: 0, answered: 0, failed: 0, aborted: 0, breaches: [] };

test(`under random faults, aborts and deadlines no promise is broken (TOUCHPOINT_CAMPAIGN_SEED=${seed})`, async () => {
  let sum = nothing;
  const campaign = fc.asyncProperty(
    fc.array(anyJob, { minLength: callsPerRun, maxLength: callsPerRun }),
    fc.nat(),
    async (jobs, sandboxSeed) => {
      const tally = await runCampaign(jobs, sandboxSeed);
      sum = add(sum, tally);
      expect(tally.breaches).toEqual([]);
    },
  );
  const numRuns = Math.max(1, Math.ceil(calls / callsPerRun));
  // Not shrunk: a smaller campaign meets other faults.
  await fc.assert(campaign, { seed, numRuns, endOnFailure: true });
  console.log(`campaign, seed ${seed}:`, JSON.stringify(sum));
  expect(sum).toMatchObject({ calls: numRuns * callsPerRun, breaches: [] });
}, 3_600_000);
