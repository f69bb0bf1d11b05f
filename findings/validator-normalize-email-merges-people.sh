#!/usr/bin/env bash
# What: normalizeEmail of validator cuts a Yahoo address at its hyphen, so two people become one.
# Versions: validator 13.15.15, Node 20 or later.
# Guess: it lowercases, and at most drops what follows a plus sign.
# Seen: mary-ann@yahoo.com becomes mary@yahoo.com, which is someone else. At iCloud the hyphen stays. The option
#   `yahoo_remove_subaddress: false` keeps it at Yahoo, too.
# Matters because: whoever merges contacts by this form sends one person's email to another.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund validator@13.15.15

out=$(node -e '
const { normalizeEmail } = require("validator");
for (const address of ["Mary-Ann@yahoo.com", "mary@yahoo.com", "Mary-Ann@icloud.com"])
  console.log(address, normalizeEmail(address), normalizeEmail(address, { yahoo_remove_subaddress: false }));')
echo "$out"
[ "$out" = 'Mary-Ann@yahoo.com mary@yahoo.com mary-ann@yahoo.com
mary@yahoo.com mary@yahoo.com mary@yahoo.com
Mary-Ann@icloud.com mary-ann@icloud.com mary-ann@icloud.com' ]
