#!/usr/bin/env bash
# One server and one client, written with this project and with three SDKs: runs each client against each server, uses
# all that each server offers, and counts lines.
#
#   tests/peers/programs/run.sh [count]
#
# What counts is a line that is neither empty nor a comment alone, in the layout of the language's own formatter at 100
# columns. Peers are installed below target/programs, at the versions named here and in rmcp/Cargo.toml.
set -euo pipefail
cd "$(dirname "$0")"
programs=$PWD
root=$(cd ../../.. && pwd)
folder=$root/target/programs
node_packages=(@modelcontextprotocol/server@2.4.0 @modelcontextprotocol/client@2.4.0 zod@4)
python_packages=(mcp==2.3.0)

names=(ours rmcp typescript python)
declare -A source_of=(
    [ours]=$root/tests/programs/src/bin/short_%.rs
    [rmcp]=$programs/rmcp/src/bin/%.rs
    [typescript]=$programs/typescript/%.mjs
    [python]=$programs/python/%.py
)

lines() {
    grep -cEv '^[[:space:]]*((//|#[^![]).*)?$' "${source_of[$1]/\%/$2}"
}

count() {
    printf '| lines | %s |\n' "$(printf '%s | ' "${names[@]}" | sed 's/ | $//')"
    for side in server client; do
        printf '| %s |' "$side"
        for name in "${names[@]}"; do printf ' %s |' "$(lines "$name" "$side")"; done
        printf '\n'
    done
}

if [ "${1-}" = count ]; then
    count
    exit
fi

mkdir -p "$folder"
cp typescript/*.mjs python/*.py "$folder"
[ -e "$folder/package.json" ] || echo '{"private": true}' >"$folder/package.json"
(cd "$folder" && npm install --no-audit --no-fund --silent "${node_packages[@]}")
[ -d "$folder/venv" ] || python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "${python_packages[@]}"
(cd "$root" && cargo build --quiet -p mcp-test-programs --bin short_server --bin short_client)
(cd rmcp && CARGO_TARGET_DIR=$folder/rmcp cargo build --quiet)
target=$(cd "$root" && cargo metadata --quiet --no-deps --format-version 1 | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')

declare -A command_of=(
    [ours]="$target/debug/short_%"
    [rmcp]="$folder/rmcp/debug/%"
    [typescript]="node $folder/%.mjs"
    [python]="$folder/venv/bin/python $folder/%.py"
)
failed=0
for server in "${names[@]}"; do
    for client in "${names[@]}"; do
        # The commands are words without blanks in them.
        # shellcheck disable=SC2086
        heard=$(timeout 60 ${command_of[$client]/\%/client} ${command_of[$server]/\%/server} | sort | tr '\n' ' ') || heard="$heard (failed)"
        word=ok
        [ "$heard" = 'add fail sky ' ] || { word="heard: $heard"; failed=1; }
        printf '%-10s -> %-10s  %s\n' "$client" "$server" "$word"
    done
    # shellcheck disable=SC2086
    timeout 60 "$folder/venv/bin/python" "$programs/uses.py" ${command_of[$server]/\%/server} || failed=1
done
count
exit $failed
