#!/usr/bin/env bash
# What: The JSON of a Temporal.ZonedDateTime ends with `[Europe/Berlin]`, which the Date of the same runtime cannot parse.
# Versions: temporal-polyfill 0.3.0; Node 20 and later.
# Guess: toJSON returns an ISO 8601 time with an offset, which every parser reads, as Instant.toJSON does.
# Seen: "2030-01-31T09:00:00+01:00[Europe/Berlin]". new Date() of this text is an Invalid Date, without an error.
# Matters because: toJSON writes times in the free-form fields of a request, and the service may refuse or lose such a time.
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
