#!/usr/bin/env bash
# What: tsup's CommonJS with splitting takes the name from each class that has a field: logs show `_class` for every error.
# Versions: tsup 8.5.1 (esbuild, and sucrase for CommonJS), TypeScript 5.9.3, Node 20 or later.
# Guess: ESM and CommonJS of one build differ only in their imports and exports. A class keeps its name.
# Seen: ESM gives PaymentError. CommonJS with `splitting` gives _class, without it PaymentError, and with
#   `useDefineForClassFields: false` PaymentError, too.
# Matters because: console.log, pino and error trackers show the name of an error's class.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund tsup@8.5.1 typescript@5.9.3

cat >errors.ts <<'TS'
export class PaymentError extends Error {
  readonly code = "payment_failed";
}
TS
echo 'export { PaymentError } from "./errors"; export const other = 1;' >index.ts

name() { # name <folder> <extension> <options of tsup>
  npx tsup index.ts errors.ts --target es2022 --silent --out-dir "$1" "${@:3}" >/dev/null 2>&1
  node --input-type=module -e "
    const loaded = await import(process.argv[1]);
    const { PaymentError } = loaded.default?.PaymentError ? loaded.default : loaded;
    console.log(new PaymentError('x').constructor.name);" "$folder/$1/index.$2"
}

out="ESM $(name esm mjs --format esm --splitting)
CommonJS with splitting $(name split js --format cjs --splitting)
CommonJS without splitting $(name whole js --format cjs)"
echo '{ "compilerOptions": { "target": "es2022", "useDefineForClassFields": false } }' >tsconfig.json
out="$out
CommonJS with splitting, fields assigned $(name assigned js --format cjs --splitting)"
echo "$out"
[ "$out" = 'ESM PaymentError
CommonJS with splitting _class
CommonJS without splitting PaymentError
CommonJS with splitting, fields assigned PaymentError' ]
