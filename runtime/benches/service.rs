//! What typed handlers cost over the endpoint by itself: the same calls on the same streams, handled by hand and by the
//! service layer. Both read their params into types and write their result from types.
//!
//! `cargo bench -p mcp-revisions --bench service`. The goal: the service within 10 % of the endpoint.

#![allow(
    clippy::unwrap_used,
    reason = "a bench that cannot read its own messages has to end"
)]

#[allow(dead_code, reason = "other benches take the rest")]
mod messages;

use divan::Bencher;
use divan::counter::ItemsCount;
use mcp_revisions::latest::{self as mcp, ServerHandlers};
use mcp_revisions::mcp_wire::{ErrorObject, Json};
use mcp_revisions::sansio::server::{IncomingRequest, Profile, Server};
use mcp_revisions::serve::Peer;
use mcp_revisions::service::{self, Error, RequestContext};
use mcp_revisions::{Latest, Revision, sansio::errors, stdio};
use messages::PER_REQUEST_CALL;
use tokio::runtime::{Builder, Runtime};

fn main() {
    divan::main();
}

/// How many calls come on one stream.
const CALLS: usize = 1000;

fn lines() -> String {
    let calls =
        (0..CALLS).map(|id| format!("{}\n", PER_REQUEST_CALL.replace("{id}", &id.to_string())));
    calls.collect()
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn info() -> mcp::Implementation {
    mcp_revisions::program!()
}

fn result(name: &str) -> mcp::CallToolResult {
    mcp::CallToolResult::new(vec![mcp::TextContent::new(name).into()])
}

async fn by_hand(call: IncomingRequest, _: Peer) -> Result<Json, ErrorObject> {
    match call.method {
        "tools/call" => {
            let params: Result<mcp::CallToolRequestParams, _> = call.params.read();
            let params =
                params.map_err(|error| errors::invalid_params(&error.to_string()).error)?;
            Ok(Json::of(&result(&params.name)))
        }
        other => Err(errors::method_not_found(other, call.revision.lifecycle()).error),
    }
}

struct Typed;

impl ServerHandlers<RequestContext<Latest>> for Typed {
    async fn call_tool(
        &self,
        params: mcp::CallToolRequestParams,
        _: RequestContext<Latest>,
    ) -> Result<mcp::CallToolOutcome, Error> {
        Ok(result(&params.name).into())
    }
}

#[divan::bench]
fn endpoint(bencher: Bencher<'_, '_>) {
    let (runtime, lines) = (runtime(), lines());
    let capabilities =
        mcp::ServerCapabilities::new().with_tools(mcp::ServerCapabilitiesTools::new());
    bencher.counter(ItemsCount::new(CALLS)).bench_local(|| {
        let server = Server::new(Revision::LATEST, Profile::new(&info(), &capabilities)).unwrap();
        let served = stdio::serve_on(server, by_hand, lines.as_bytes(), tokio::io::sink());
        runtime.block_on(served).unwrap();
    });
}

#[divan::bench]
fn service(bencher: Bencher<'_, '_>) {
    let (runtime, lines) = (runtime(), lines());
    bencher.counter(ItemsCount::new(CALLS)).bench_local(|| {
        let running = service::Server::<Latest>::new(&info())
            .build(Typed)
            .unwrap();
        let served = running.lines(lines.as_bytes(), tokio::io::sink());
        runtime.block_on(served).unwrap();
    });
}
