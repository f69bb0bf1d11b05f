#!/usr/bin/env bash
# What: the mock timers of node:test move Date and setTimeout, but not performance.now.
# Versions: Node 20, 22, 24, 26 (run with the node on the PATH).
# Guess: as with the fake timers of vitest and Jest, all clocks of a test move together.
# Seen: after a tick of 5 s, Date.now() is 5,000 ms later and performance.now() is not. After
#   `mock.method(performance, "now", () => Date.now())` it is.
# Matters because: code that measures a wait with the monotonic clock, as it should, finds that no time has passed when its
#   mocked timer fires. It waits again, and the test hangs.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >run.mjs <<'JS'
import { mock } from "node:test";

const passed = () => {
  const [wall, monotonic] = [Date.now(), performance.now()];
  mock.timers.tick(5_000);
  return `Date ${Date.now() - wall}, performance ${performance.now() - monotonic >= 5_000 ? 5_000 : "less than 5000"}`;
};
mock.timers.enable({ apis: ["setTimeout", "Date"] });
console.log(passed());
mock.method(performance, "now", () => Date.now());
console.log(passed());
JS
node --version
out=$(node --no-warnings run.mjs)
echo "$out"
[ "$out" = 'Date 5000, performance less than 5000
Date 5000, performance 5000' ]
