#!/usr/bin/env bash
# What: Miller writes numbers to JSON as they stand in the CSV, also in forms that JSON does not have.
# Versions: Miller 6.6.0 (Debian 12), Node 20 or later.
# Guess: what --ojsonl writes, every JSON parser reads.
# Seen: .5, 5. and 0x1F are written without quotes, and JSON.parse refuses the line. 007 and +5 are quoted. With -S every
#   value is text.
# Matters because: an ingestion of events refuses the lines with such a cell: a score of .5, an id that starts with 0x.
set -euo pipefail
command -v mlr >/dev/null || { echo "this needs mlr: apt-get install miller" >&2; exit 2; }

mlr --version
csv='score,ratio,id,code
.5,5.,0x1F,007'
read_back() {
  node -e '
    const line = require("fs").readFileSync(0, "utf8").trim();
    let answer = "valid JSON";
    try { JSON.parse(line); } catch { answer = "no JSON"; }
    console.log(line, answer);'
}
out="$(mlr --icsv --ojsonl cat <<<"$csv" | read_back)
$(mlr -S --icsv --ojsonl cat <<<"$csv" | read_back)"
echo "$out"
[ "$out" = '{"score": .5, "ratio": 5., "id": 0x1F, "code": "007"} no JSON
{"score": ".5", "ratio": "5.", "id": "0x1F", "code": "007"} valid JSON' ]
