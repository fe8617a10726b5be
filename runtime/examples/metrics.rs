//! A server whose metrics Prometheus reads: `cargo run -p mcp-revisions --example metrics`, then
//! `curl http://127.0.0.1:8080/metrics`.

use std::time::Duration;

use mcp_revisions::Router;
use mcp_revisions::http;
use metrics_exporter_prometheus::PrometheusBuilder;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let builder = PrometheusBuilder::new().with_recommended_naming(true);
    let recorder = builder.install_recorder()?;
    let sums = recorder.clone();
    // Samples that have not been read are summed up, so that they take up no more room.
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_secs(5)).await;
            sums.run_upkeep();
        }
    });
    let server = Router::new()
        .tool("sky", "Describes the sky.", || async { "clear" })
        .build("sky", "1.0.0")?;
    let options = http::Options::new().with_metrics("/metrics", move || recorder.render());
    let service = server.into_http_service(options);
    let listener = http::bind(("127.0.0.1", 8080)).await?;
    let stop = mcp_revisions::stop_signal()?;
    http::serve_until(listener, service, stop, Duration::from_secs(10)).await;
    Ok(())
}
