// CPU per call, user and system, of the process alone, as a ratio to undici.request + JSON.parse.
//
//   npm run bench:call            (build first; `npm --prefix bench install` once adds the other SDKs)
//
// The subjects take turns in short rounds, so that the machine's moods hit all alike, in one process after another:
// how V8 compiles and collects differs more from process to process than from round to round.
import { fork } from "node:child_process";

const processes = Number(process.env.PROCESSES ?? 3);
const titles = new Map();

for (let at = 0; at < processes; at += 1) {
  const child = fork(new URL("call-process.mjs", import.meta.url));
  child.on("message", ({ title, figures }) => {
    const rounds = titles.get(title) ?? [];
    titles.set(title, rounds);
    rounds.push({ ...figures, process: at });
  });
  await new Promise((resolve) => child.once("exit", resolve));
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

for (const [title, rounds] of titles) {
  console.log(`\n${title}${" ".repeat(44 - title.length)}range of the processes`);
  for (const name of Object.keys(rounds[0]).filter((name) => name !== "process")) {
    // The ratio of each round, then their median: rounds differ more than subjects within one.
    const ratio = (some) => median(some.map((round) => round[name] / round["undici.request"])).toFixed(2);
    const each = Array.from({ length: processes }, (_, at) =>
      ratio(rounds.filter((round) => round.process === at)),
    ).sort();
    console.log(
      `  ${name.padEnd(16)} ${ratio(rounds).padStart(6)} x   ${median(rounds.map((round) => round[name]))
        .toFixed(0)
        .padStart(5)} µs   ${each[0]}–${each.at(-1)}`,
    );
  }
}
