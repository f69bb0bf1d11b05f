#!/usr/bin/env bash
# What: dayjs takes a day that does not exist for a later day, and JSON carries that day; luxon and moment write null for it.
# Versions: dayjs 1.11.13, luxon 3.5.0, moment 2.30.1; Node 20 and later.
# Guess: the three are used alike, so each makes an invalid time of 2030-02-30, and JSON of it is null.
# Seen: dayjs is valid and writes a time that starts March 2, luxon and moment write null.
# Matters because: of the same wrong input one program stores a wrong day, and another sends null, which clears a field.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund dayjs@1.11.13 luxon@3.5.0 moment@2.30.1 >/dev/null
cat >try.mjs <<'SCRIPT'
import dayjs from "dayjs";
import { DateTime } from "luxon";
import moment from "moment";
const day = "2030-02-30";
const written = JSON.parse(
  JSON.stringify({ dayjs: dayjs(day), luxon: DateTime.fromISO(day), moment: moment(day, "YYYY-MM-DD", true) }),
);
console.log(process.version, written, "dayjs is valid:", dayjs(day).isValid());
const isMoved = dayjs(day).isValid() && dayjs(day).format("YYYY-MM-DD") === "2030-03-02";
if (!isMoved || written.luxon !== null || written.moment !== null) throw new Error("the behaviour is another one");
SCRIPT
TZ=UTC node try.mjs
