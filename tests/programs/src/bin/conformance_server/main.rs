//! The server that the official conformance suite wants to see: functions registered once, for clients of every revision.
//!
//! `cargo run -p mcp-test-programs --bin conformance_server -- 3000`; port 0 takes any that is free. The address is the
//! first line on standard output. `cargo xtask conformance` runs the suite against it. The argument after the port is the URL of
//! a Redis server that replicas share (feature `redis`).

mod conformance;

use std::error::Error;

use mcp_revisions::http::{self, Options};
use mcp_revisions::service::router::Changes;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let port = arguments.first().and_then(|text| text.parse().ok());
    let listener = http::bind(("127.0.0.1", port.unwrap_or(0))).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    // haproxy asks there which replicas are ready.
    let (changes, options) = (Changes::new(), Options::new().with_readiness("/readyz"));
    let (changes, options) = match arguments.get(1) {
        #[cfg(feature = "redis")]
        Some(url) => {
            let redis = mcp_revisions::backplane::Redis::connect(url.as_str()).await?;
            let changes = changes.shared_by(redis.clone());
            (changes, options.with_backplane(redis))
        }
        _ => (changes, options),
    };
    let service = conformance::server(&changes)?.into_http_service(options);
    http::serve(listener, service).await;
    Ok(())
}
