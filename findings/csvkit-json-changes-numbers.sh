#!/usr/bin/env bash
# What: csvjson turns phone numbers into floats without their plus sign, and a column of 1 and blanks into booleans.
# Versions: csvkit 1.0.7 (Debian 12), Node 20 or later.
# Guess: a converter from CSV to JSON may turn digits into numbers, but a value with a plus sign or a leading zero stays text.
# Seen: +491701234567 becomes 491701234567.0, 01234 becomes 1234.0, and a score of 1 becomes true. With -I the
#   values stay text, and blanks become null.
# Matters because: the JSON looks right to a parser, so an import stores numbers that nobody can call.
set -euo pipefail
command -v csvjson >/dev/null || { echo "this needs csvjson: apt-get install csvkit" >&2; exit 2; }

csvjson --version
csv='email,phone,zip,score
ann@example.com,+491701234567,01234,1
bob@example.com,+491701234568,10115,'
out="$(csvjson --stream <<<"$csv")
$(csvjson --stream -I <<<"$csv")"
echo "$out"
[ "$out" = '{"email": "ann@example.com", "phone": 491701234567.0, "zip": 1234.0, "score": true}
{"email": "bob@example.com", "phone": 491701234568.0, "zip": 10115.0, "score": null}
{"email": "ann@example.com", "phone": "+491701234567", "zip": "01234", "score": "1"}
{"email": "bob@example.com", "phone": "+491701234568", "zip": "10115", "score": null}' ]
