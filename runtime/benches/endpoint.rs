//! How many small calls one core takes through the server endpoint: received, handed to the application, answered.
//!
//! `cargo bench -p mcp-revisions --bench endpoint`.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a bench that cannot read its own messages has to end"
)]

mod messages;

use std::time::Duration;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use mcp_revisions::Revision;
use mcp_revisions::mcp_wire::Json;
use mcp_revisions::sansio::server::{Connection, Event, Output, Profile, Server};
use messages::{HANDSHAKE_CALL, INITIALIZE, PER_REQUEST_CALL};

fn main() {
    divan::main();
}

const RESULT: &str =
    r#"{"content":[{"type":"text","text":"3 issues: #12 #18 #44"}],"isError":false}"#;
const PER_REQUEST_RESULT: &str = r#"{"content":[{"type":"text","text":"3 issues: #12 #18 #44"}],"isError":false,"resultType":"complete"}"#;

/// One call and its answer through an endpoint, of a peer with a session or of one without.
fn calls(bencher: Bencher<'_, '_>, app: Revision, session: Option<&str>, result: &str) {
    let capabilities = Json::from_text(r#"{"tools":{},"resources":{},"prompts":{}}"#).unwrap();
    let info = Json::from_text(r#"{"name":"bench","version":"1.0.0"}"#).unwrap();
    let server = Server::new(app, Profile::new(&info, &capabilities)).unwrap();
    let mut connection = Connection::new(server);
    let mut text = PER_REQUEST_CALL;
    if let Some(version) = session {
        let initialize = INITIALIZE.replace("{version}", version);
        connection.receive(None, initialize.as_bytes(), Duration::ZERO);
        while connection.poll().is_some() {}
        text = HANDSHAKE_CALL;
    }
    let text = text.replace("{id}", "1842");
    let result = Json::from_text(result).unwrap();
    bencher.counter(ItemsCount::new(1_usize)).bench_local(|| {
        connection.receive(None, black_box(text.as_bytes()), Duration::ZERO);
        let Some(Output::Event(Event::Request(call))) = connection.poll() else {
            panic!("{connection:?}")
        };
        let _ = connection.answer(call.token, Ok(result.clone()), Duration::ZERO);
        let answer = connection.poll();
        assert!(matches!(answer, Some(Output::Send(_))));
        (call, answer)
    });
}

#[divan::bench(sample_size = 1000)]
fn endpoint_same_revision_2025_11_25(bencher: Bencher<'_, '_>) {
    calls(bencher, Revision::V2025_11_25, Some("2025-11-25"), RESULT);
}

#[divan::bench(sample_size = 1000)]
fn endpoint_same_revision_2026_07_28(bencher: Bencher<'_, '_>) {
    calls(bencher, Revision::V2026_07_28, None, PER_REQUEST_RESULT);
}

#[divan::bench(sample_size = 1000)]
fn endpoint_four_hops_up_from_2024_11_05(bencher: Bencher<'_, '_>) {
    calls(
        bencher,
        Revision::V2026_07_28,
        Some("2024-11-05"),
        PER_REQUEST_RESULT,
    );
}

#[divan::bench(sample_size = 1000)]
fn endpoint_four_hops_down_to_2024_11_05(bencher: Bencher<'_, '_>) {
    calls(bencher, Revision::V2024_11_05, None, RESULT);
}
