#!/usr/bin/env bash
# What: dayjs turns a day that does not exist into a later day and writes that day to JSON. luxon and moment write null.
# Versions: dayjs 1.11.13, luxon 3.5.0, moment 2.30.1; Node 20 and later.
# Guess: all three libraries treat 2030-02-30 as an invalid time and write null to JSON.
# Seen: dayjs reports a valid time and writes March 2. luxon and moment write null.
# Matters because: for the same wrong input, one program stores a wrong day, and another sends null, which clears a field.
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
