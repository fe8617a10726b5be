//! Metrics of the bridge as the text that Prometheus reads.

use std::time::Duration;

use anyhow::Context as _;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

/// Time after which unread samples are summed up, so that they take up no more room.
const SUMS: Duration = Duration::from_secs(5);

/// Seconds up to which durations are counted, as OpenTelemetry has them for MCP.
const BUCKETS: [f64; 14] = [
    0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0,
];

/// The help texts of the metrics.
const GAUGES: [(&str, &str); 6] = [
    (
        "mcp_bridge_servers",
        "Connections to servers that are open, or processes of them.",
    ),
    (
        "mcp_revisions_sessions",
        "Sessions of clients that are open.",
    ),
    (
        "mcp_revisions_suspended_requests",
        "Requests that wait for the input of their client.",
    ),
    (
        "mcp_revisions_request_bytes",
        "Bytes of requests that are read or worked on.",
    ),
    (
        "mcp_revisions_unread_bytes",
        "Bytes of responses that clients have not read.",
    ),
    (
        "mcp_revisions_backplane_available",
        "Whether the backplane can be used, 1 or 0.",
    ),
];
const COUNTERS: [(&str, &str); 8] = [
    (
        "mcp_bridge_server_failures_total",
        "Servers that could not be started or reached.",
    ),
    (
        "mcp_bridge_server_ends_total",
        "Servers that ended by themselves.",
    ),
    (
        "mcp_bridge_cache_hits_total",
        "Requests answered by a result that its server lets clients share.",
    ),
    (
        "mcp_revisions_losses_total",
        "Losses of conversions, by rule and severity, at the end towards clients or servers.",
    ),
    (
        "mcp_revisions_undelivered_total",
        "Messages that were rejected or dropped, by rule.",
    ),
    (
        "mcp_revisions_refusals_total",
        "Requests that were refused before they were handled, by HTTP status.",
    ),
    (
        "mcp_revisions_takeovers_total",
        "Sessions that went on here after their replica was gone.",
    ),
    (
        "mcp_revisions_backplane_failures_total",
        "Times that the backplane was lost.",
    ),
];
const DURATIONS: [(&str, &str); 2] = [
    (
        "mcp.server.operation.duration",
        "Seconds from a request of a client to its response.",
    ),
    (
        "mcp.client.operation.duration",
        "Seconds from a request to a server to its response.",
    ),
];

/// Begins to record, and returns what renders the metrics.
///
/// # Errors
/// Returns an error if metrics are recorded already.
pub(super) fn begin() -> anyhow::Result<impl Fn() -> String + Send + Sync + Clone + 'static> {
    let builder = DURATIONS
        .iter()
        .try_fold(PrometheusBuilder::new(), |builder, (name, _)| {
            builder.set_buckets_for_metric(Matcher::Full((*name).to_owned()), &BUCKETS)
        });
    let handle: PrometheusHandle = builder
        .context("--metrics")?
        .with_recommended_naming(true)
        .install_recorder()
        .context("--metrics")?;
    for (name, meaning) in DURATIONS {
        ::metrics::describe_histogram!(name, ::metrics::Unit::Seconds, meaning);
    }
    for (name, meaning) in GAUGES {
        ::metrics::describe_gauge!(name, meaning);
    }
    for (name, meaning) in COUNTERS {
        ::metrics::describe_counter!(name, meaning);
    }
    let sums = handle.clone();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(SUMS).await;
            sums.run_upkeep();
        }
    });
    Ok(move || handle.render())
}
