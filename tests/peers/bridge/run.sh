#!/usr/bin/env bash
# `mcp-rev bridge` and `mcp-remote` before the same server over HTTP, in one run: added latency a call, calls a second,
# memory. Needs node, npm and the network; to be run in a quiet moment: tests/peers/bridge/run.sh
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
cd "$root"
cargo build --release --package mcp-rev --bin mcp-rev --example peer
folder="${CARGO_TARGET_DIR:-target}/bridge-figures"
mkdir -p "$folder"
[ -e "$folder/package.json" ] || echo '{"private":true}' > "$folder/package.json"
npm install --silent --no-audit --no-fund --prefix "$folder" mcp-remote@0.15.1
release="${CARGO_TARGET_DIR:-target}/release"
node "$here/measure.mjs" "$release/mcp-rev" "$release/examples/peer" "$folder/node_modules/mcp-remote" | tee "$folder/table.txt"
# What each adds to the median call, in microseconds, and how many calls a second go through it.
mapfile -t figures < <(awk -F' *[|] *' '$5 ~ /µs/ { sub(/ [^ ]*$/, "", $2); gsub(/[^0-9.-]/, "", $5); print $2 "-added-p50=" $5; print $2 "-calls=" $7 }' \
    "$folder/table.txt")
tests/peers/record bridge "${figures[@]}"
