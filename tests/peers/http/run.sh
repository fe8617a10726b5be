#!/usr/bin/env bash
# The same server of one small tool, of this project, of rmcp and of the TypeScript SDK, called over 64 connections in turn;
# and what HTTP alone costs, by a hyper service that answers with the same bodies.
# Needs node, npm and the registries, and builds below target/http-figures; to be run in a quiet moment:
#   tests/peers/http/run.sh [SECONDS]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
seconds=${1:-5}
export CARGO_TARGET_DIR="$here/../../../target/http-figures"
cargo build --quiet --release --manifest-path "$here/Cargo.toml"
node="$CARGO_TARGET_DIR/node"
mkdir -p "$node"
[ -e "$node/package.json" ] || echo '{"private":true,"type":"module"}' > "$node/package.json"
npm install --silent --no-audit --no-fund --prefix "$node" @modelcontextprotocol/sdk@1.32 zod@3
cp "$here/typescript.mjs" "$node/"

port=8400
server=
rows="$CARGO_TARGET_DIR/rows.txt"
: > "$rows"
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true' EXIT
# One server at a time: the load and the server share the machine.
measure() {
    local name=$1 mode=$2 load=$3
    shift 3
    port=$((port + 1))
    "$@" "$port" "$mode" &
    server=$!
    for _ in $(seq 100); do
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
        sleep 0.05
    done
    printf '%-11s %-10s %s\n' "$load" "$name" "$("$CARGO_TARGET_DIR/release/load" "$port" "$load" "$seconds")" | tee -a "$rows"
    kill "$server"
    wait "$server" 2>/dev/null || true
    server=
}

for round in 1 2 3; do
    echo "round $round"
    measure floor sessions sessions "$CARGO_TARGET_DIR/release/floor"
    measure ours sessions sessions "$CARGO_TARGET_DIR/release/ours"
    measure rmcp sessions sessions "$CARGO_TARGET_DIR/release/rmcp"
    measure typescript sessions sessions node "$node/typescript.mjs"
    measure floor stateless stateless "$CARGO_TARGET_DIR/release/floor"
    measure ours stateless stateless "$CARGO_TARGET_DIR/release/ours"
    measure rmcp stateless stateless "$CARGO_TARGET_DIR/release/rmcp"
    measure typescript stateless stateless node "$node/typescript.mjs"
    measure floor stateless per-request "$CARGO_TARGET_DIR/release/floor"
    measure ours stateless per-request "$CARGO_TARGET_DIR/release/ours"
    measure rmcp stateless per-request "$CARGO_TARGET_DIR/release/rmcp"
done

# The median of calls a second beside rmcp and beside what HTTP alone costs, per kind of load.
mapfile -t figures < <(sort -k1,1 -k2,2 -k3,3n "$rows" |
    awk '{ key = $1 " " $2; rates[key, ++runs[key]] = $3 }
        END {
            for (key in runs) median[key] = rates[key, int((runs[key] + 1) / 2)]
            split("sessions stateless per-request", loads, " ")
            for (i = 1; i <= 3; i++) {
                ours = median[loads[i] " ours"]
                printf "%s=%d\n%s/rmcp=%.2f\n%s/floor=%.2f\n", loads[i], ours, loads[i], ours / median[loads[i] " rmcp"], loads[i], ours / median[loads[i] " floor"]
            }
        }')
"$here/../record" http "${figures[@]}"
