#!/usr/bin/env bash
# What: under Yarn Plug'n'Play, FileHandle.sync, datasync, utimes and readv throw "Method not implemented." for every file.
# Versions: Yarn 4.18.1 (nodeLinker: pnp), Node 20 or later.
# Guess: Plug'n'Play changes how modules are found, and files outside its cache behave as in Node.
# Seen: sync and datasync throw at once instead of returning a promise, so `.catch()` does not help. fs.fsync with the
#   handle's fd works.
# Matters because: code that makes a file durable (a ledger, an export, a database in a file) fails in such a project only.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm pack --silent @yarnpkg/cli-dist@4.18.1 >/dev/null
tar xf yarnpkg-cli-dist-4.18.1.tgz
mkdir app && cd app
echo '{ "name": "app", "private": true }' >package.json
printf 'nodeLinker: pnp\nenableTelemetry: false\n' >.yarnrc.yml
touch yarn.lock
node ../package/bin/yarn.js install >/dev/null

cat >run.cjs <<'JS'
const { fsync } = require("fs");
const { open } = require("fs/promises");
const { promisify } = require("util");
const run = async () => {
  const handle = await open("data.txt", "w+");
  for (const name of ["sync", "datasync"]) {
    let answer = "";
    try {
      answer = typeof handle[name]().then;
    } catch (error) {
      answer = `throws: ${error.message}`;
    }
    console.log(name, answer);
  }
  await promisify(fsync)(handle.fd);
  console.log("fs.fsync works");
  await handle.close();
};
run();
JS
out=$(node run.cjs; echo --; node ../package/bin/yarn.js node run.cjs)
echo "$out"
[ "$out" = 'sync function
datasync function
fs.fsync works
--
sync throws: Method not implemented.
datasync throws: Method not implemented.
fs.fsync works' ]
