// Prints the CPU time per call (user and system) of the client's process, as a ratio to undici.request + JSON.parse.
//
//   npm run bench:call            (build first; `npm --prefix bench install` once adds the other SDKs)
//
// The clients take turns in short rounds, so that changes in the machine's speed affect all of them equally. Several
// processes run one after another, because V8's compilation and garbage collection differ more between processes than
// between rounds.
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
  console.log(`\n${title}${" ".repeat(46 - title.length)}range over processes`);
  for (const name of Object.keys(rounds[0]).filter((name) => name !== "process")) {
    // The median of the ratios per round: rounds differ more from each other than clients do within a round.
    const ratio = (some) => median(some.map((round) => round[name] / round["undici.request"])).toFixed(2);
    const each = Array.from({ length: processes }, (_, at) =>
      ratio(rounds.filter((round) => round.process === at)),
    ).sort();
    console.log(
      `  ${name.padEnd(18)} ${ratio(rounds).padStart(6)} x   ${median(rounds.map((round) => round[name]))
        .toFixed(0)
        .padStart(5)} µs   ${each[0]}–${each.at(-1)}`,
    );
  }
}
