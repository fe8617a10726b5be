#!/usr/bin/env bash
# Times cold builds, dev and release, of small programs that it makes below target/cold:
# ours reads and writes every type of every revision, each peer's one message of one revision.
#
#   tests/peers/cold_build.sh [ours | rmcp | rust-mcp-schema | turbomcp-protocol]...
#   tests/peers/cold_build.sh our-server rmcp-server
#
# The second builds one stdio server of tools, a resource, a prompt and a completion: tests/programs/src/bin/short_server.rs, and what
# programs/rmcp has of it.
#
# CPU is what the build costs on a busy machine too; wall is what one waits on an idle one.
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
cold=$PWD/target/cold
export CARGO_TARGET_DIR CARGO_INCREMENTAL=
unset CARGO_INCREMENTAL RUSTFLAGS

# The dependencies of a program, as lines of its Cargo.toml; the versions are those of the peers' Cargo.toml.
dependencies() {
    case $1 in
    our-server)
        echo "mcp-revisions = { path = \"$root/runtime\", features = [\"router\", \"schemars\"] }"
        echo 'tokio = { version = "1", features = ["macros", "rt-multi-thread"] }'
        echo 'schemars = "1"'
        echo 'serde = { version = "1", features = ["derive"] }'
        ;;
    rmcp-server)
        # Without what its client alone needs.
        sed -n '/^\[dependencies\]/,/^\[profile/p' programs/rmcp/Cargo.toml | grep '^[a-z]' |
            sed 's/"client", //; s/, "transport-child-process"//; s/, "process"//'
        ;;
    ours)
        echo "mcp-wire = { path = \"$root/runtime/wire\" }"
        for crate in "$root"/generated/mcp-2* "$root"/generated/mcp-draft; do
            echo "$(basename "$crate") = { path = \"$crate\" }"
        done
        ;;
    *)
        grep "^$1 = " Cargo.toml
        echo 'serde_json = "1"'
        ;;
    esac
}

# The program: reads its arguments, so that nothing can be worked out while it is built.
program() {
    case $1 in
    our-server) cat "$root/tests/programs/src/bin/short_server.rs" ;;
    rmcp-server) cat programs/rmcp/src/bin/server.rs ;;
    ours)
        echo 'fn main() {'
        echo '    let arguments: Vec<String> = std::env::args().collect();'
        for crate in "$root"/generated/mcp-2* "$root"/generated/mcp-draft; do
            echo "    for row in $(basename "$crate" | tr - _)::TYPES {"
            echo '        if row.name == arguments[1] { println!("{:?}", (row.round_trip)(&arguments[2])); }'
            echo '    }'
        done
        echo '}'
        ;;
    rmcp) one_message 'rmcp::model::ClientJsonRpcMessage' ;;
    rust-mcp-schema) one_message 'rust_mcp_schema::schema_utils::ClientMessage' ;;
    turbomcp-protocol) one_message 'turbomcp_protocol::v2025_11_25::types::ClientRequest' ;;
    esac
}

one_message() {
    echo 'fn main() {'
    echo '    let text = std::env::args().nth(1).unwrap();'
    echo "    let message: $1 = serde_json::from_str(&text).unwrap();"
    echo '    println!("{}", serde_json::to_string(&message).unwrap());'
    echo '}'
}

[ $# -gt 0 ] || set -- ours rmcp rust-mcp-schema turbomcp-protocol
printf '%-18s  %-7s  %6s  %6s  %6s  %11s\n' program profile wall CPU crates 'proc macros'
for name in "$@"; do
    package=$cold/$name
    rm -rf "$package"
    mkdir -p "$package/src"
    {
        printf '[workspace]\n[package]\nname = "cold"\nversion = "0.1.0"\nedition = "2024"\n[dependencies]\n'
        dependencies "$name"
    } >"$package/Cargo.toml"
    program "$name" >"$package/src/main.rs"
    # What is to be had from the registry is here before the clock runs.
    (cd "$package" && cargo fetch --quiet)
    tree=$(cd "$package" && cargo tree --quiet --offline --edges normal,build --prefix none | sed 's/ (\*)$//' | sort -u)
    crates=$(wc -l <<<"$tree")
    macros=$(grep -c '(proc-macro)' <<<"$tree" || true)
    for profile in dev release; do
        CARGO_TARGET_DIR=$package/target
        rm -rf "$CARGO_TARGET_DIR"
        took=$(TIMEFORMAT='%R %U %S'; cd "$package" && { time cargo build --quiet --offline --profile "$profile" >&2; } 2>&1 | tail -1)
        read -r wall user system <<<"$took"
        cpu=$(awk "BEGIN { printf \"%.1f\", $user + $system }")
        printf '%-18s  %-7s  %5.1fs  %5.1fs  %6d  %11d\n' "$name" "$profile" "$wall" "$cpu" "$crates" "$macros"
    done
done
echo "load of the machine at the end: $(cut -d' ' -f1 /proc/loadavg) on $(nproc) cores, $(rustc --version)"
