#!/usr/bin/env bash
# What: Temporal.PlainTime no longer has toZonedDateTime, which articles and polyfills of 2023 use. PlainDate.toZonedDateTime accepts the time instead.
# Versions: @js-temporal/polyfill 0.4.4 and 0.5.1, temporal-polyfill 1.0.8.
# Guess: each plain type has toZonedDateTime. PlainTime needs a plainDate, just as PlainDate needs a plainTime.
# Seen: in 0.4.4, a function; in 0.5.1 and 1.0.8, undefined. date.toZonedDateTime({ timeZone, plainTime }) works.
# Matters because: code that calls it works with the old polyfill and throws in Node 26.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts old@npm:@js-temporal/polyfill@0.4.4 new@npm:@js-temporal/polyfill@0.5.1 temporal-polyfill@1.0.8

cat >try.mjs <<'JS'
const methods = [];
for (const name of ["old", "new", "temporal-polyfill"]) {
  const { Temporal } = await import(name);
  methods.push(typeof Temporal.PlainTime.prototype.toZonedDateTime);
  const plainTime = Temporal.PlainTime.from("09:00");
  const zoned = Temporal.PlainDate.from("2030-01-31").toZonedDateTime({ timeZone: "Europe/Berlin", plainTime });
  console.log(name, methods.at(-1), zoned.toString());
}
if (methods.join() !== "function,undefined,undefined") throw new Error("the behaviour is another one");
JS
node try.mjs
