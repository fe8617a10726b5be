//! A look at a request allocates nothing, and neither does settling its revision.

#![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

use std::alloc::System;
use std::hint::black_box;

use mcp_revisions::core::{NegotiatedMessage, negotiate};
use mcp_revisions::{
    Revision, RevisionSet,
    core::{Headers, peek},
};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

// One test alone in its process: another would allocate beside it.
#[test]
fn looking_and_settling_allocate_nothing() {
    let handshake = r#"{"jsonrpc":"2.0","id":"a-1","method":"tools/call","params":{"name":"add","arguments":{"a":[1,{"b":2}],"text":"line\n"},"_meta":{"progressToken":7}}}"#;
    let per_request = r#"{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"add","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let headers = Headers::from_pairs([
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "add"),
    ]);
    let served = RevisionSet::all();
    let session = (None, Some(Revision::V2025_11_25));
    let post = (Some(&headers), None);
    for (text, (headers, session), revision) in [
        (handshake, session, Revision::V2025_11_25),
        (per_request, session, Revision::V2026_07_28),
        (per_request, post, Revision::V2026_07_28),
    ] {
        let region = Region::new(ALLOCATOR);
        let seen = peek(black_box(text.as_bytes()));
        let negotiated =
            (seen.as_ref()).map(|seen| negotiate(seen, headers, served)?.within(session));
        let change = region.change();
        assert_eq!(
            negotiated.unwrap().unwrap(),
            NegotiatedMessage::Single(revision)
        );
        assert_eq!((change.allocations, change.reallocations), (0, 0), "{text}");
    }
    // The counter counts.
    let region = Region::new(ALLOCATOR);
    black_box(peek(black_box(br#"{"jsonrpc":"2.0","id":1,"method":"a\/b"}"#)).unwrap());
    assert_eq!(region.change().allocations, 1);
}
