//! The server that the official conformance suite wants to see: functions registered once, for clients of every revision.
//!
//! `cargo run -p mcp-test-programs --bin conformance_server -- 3000`; port 0 takes any that is free. The address is the
//! first line on standard output. `cargo xtask conformance` runs the suite against it. After the port may stand a number
//! of replicas, of which each request gets the next one, and the URL of the Redis server that they share (feature `redis`).

mod conformance;
mod replicas;

use std::error::Error;
use std::time::Duration;

use mcp_revisions::backplane::Memory;
use mcp_revisions::http::{self, Options};
use mcp_revisions::service::router::Changes;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse().ok());
    let listener = http::bind(("127.0.0.1", number(0).unwrap_or(0))).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    let memory = Memory::new();
    let mut services = Vec::new();
    for _ in 0..number(1).unwrap_or(1) {
        // haproxy asks there which replicas are ready.
        let (changes, options) = (Changes::new(), Options::new().with_readiness("/readyz"));
        let (changes, options) = match arguments.get(2) {
            #[cfg(feature = "redis")]
            Some(url) => {
                let redis = mcp_revisions::backplane::Redis::connect(url.as_str()).await?;
                let changes = changes.shared_by(redis.clone());
                (changes, options.with_backplane(redis))
            }
            _ => (
                changes.shared_by(memory.clone()),
                options.with_backplane(memory.clone()),
            ),
        };
        services.push(conformance::server(&changes)?.into_http_service(options));
    }
    let service = replicas::RoundRobin::new(services);
    let stop = std::future::pending();
    http::serve_layered(listener, service, &Options::default(), stop, Duration::ZERO).await;
    Ok(())
}
