#!/usr/bin/env bash
# What: JSON of a Temporal.ZonedDateTime ends in a bracket, `[Europe/Berlin]`, which the Date of the same runtime cannot read.
# Versions: temporal-polyfill 0.3.0; Node 20 and later.
# Guess: its toJSON gives an ISO 8601 time with an offset, as that of Instant does, which every parser reads.
# Seen: "2030-01-31T09:00:00+01:00[Europe/Berlin]"; new Date() of it is an Invalid Date, without an error.
# Matters because: a time inside free fields of a request is written by toJSON, and the service may refuse or lose it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund temporal-polyfill@0.3.0 >/dev/null
cat >try.mjs <<'SCRIPT'
import { Temporal } from "temporal-polyfill";
const zoned = Temporal.ZonedDateTime.from("2030-01-31T09:00[Europe/Berlin]");
const written = JSON.parse(JSON.stringify({ zoned, instant: zoned.toInstant() }));
const read = { zoned: Date.parse(written.zoned), instant: Date.parse(written.instant) };
console.log(process.version, written, read);
const isAsStated = Number.isNaN(read.zoned) && read.instant === zoned.epochMilliseconds;
if (!isAsStated) throw new Error("the behaviour is another one");
SCRIPT
node try.mjs
