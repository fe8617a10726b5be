//! Metrics of the bridge as the text that Prometheus reads.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use anyhow::Context as _;
use mcp_revisions::service::lock;
use metrics::{HistogramFn, Key, KeyName, Metadata, SharedString};

/// Seconds up to which durations are counted, as OpenTelemetry has them for MCP.
const BUCKETS: [f64; 14] = [
    0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0,
];

/// The metrics, each on a line with its help text without the full stop.
const HELP: &str = "\
mcp_bridge_servers: Connections to servers that are open, or processes of them
mcp_revisions_sessions: Sessions of clients that are open
mcp_revisions_suspended_requests: Requests that wait for the input of their client
mcp_revisions_request_bytes: Bytes of requests that are read or worked on
mcp_revisions_unread_bytes: Bytes of responses that clients have not read
mcp_revisions_backplane_available: Whether the backplane can be used, 1 or 0
mcp_bridge_server_failures_total: Servers that could not be started or reached
mcp_bridge_server_ends_total: Servers that ended by themselves
mcp_bridge_cache_hits_total: Requests answered by a result that its server lets clients share
mcp_revisions_losses_total: Losses of conversions, by rule and severity, at the end towards clients or servers
mcp_revisions_undelivered_total: Messages that were rejected or dropped, by rule
mcp_revisions_refusals_total: Requests that were refused before they were handled, by HTTP status
mcp_revisions_dropped_messages_total: Messages that a client or a handler had no room for
mcp_revisions_takeovers_total: Sessions that went on here after their replica was gone
mcp_revisions_backplane_failures_total: Times that the backplane was lost
mcp.server.operation.duration: Seconds from a request of a client to its response
mcp.client.operation.duration: Seconds from a request to a server to its response";

/// Metrics by name, each with its series by their labels, as the text has them between braces.
type Families<S> = BTreeMap<String, BTreeMap<String, Arc<S>>>;

/// The metrics of the program that have a series.
#[derive(Debug, Default)]
struct MetricsRegistry {
    counters: Families<AtomicU64>,
    /// Their values are the bits of an `f64`.
    gauges: Families<AtomicU64>,
    durations: Families<Histogram>,
}

impl MetricsRegistry {
    /// Returns the text, in the format of OpenMetrics.
    fn render(&self) -> String {
        let mut text = String::new();
        for (name, series) in &self.counters {
            let stem = name.strip_suffix("_total").unwrap_or(name);
            begin_metric(&mut text, stem, "counter", name);
            for (labels, counter) in series {
                let value = counter.load(Ordering::Relaxed);
                line(&mut text, &[stem, "_total"], labels, value);
            }
        }
        for (name, series) in &self.gauges {
            begin_metric(&mut text, name, "gauge", name);
            for (labels, value) in series {
                let value = f64::from_bits(value.load(Ordering::Relaxed));
                line(&mut text, &[name], labels, format_args!("{value:?}"));
            }
        }
        for (name, series) in &self.durations {
            let written = name.replace('.', "_") + "_seconds";
            begin_metric(&mut text, &written, "histogram", name);
            let _ = writeln!(text, "# UNIT {written} seconds");
            for (labels, histogram) in series {
                histogram.render(&mut text, &written, labels);
            }
        }
        text + "# EOF\n"
    }
}

/// Returns the series of a key, which is made if it is new.
fn series<S: Default>(families: &mut Families<S>, key: &Key) -> Arc<S> {
    let family = families.entry(key.name().to_owned()).or_default();
    family.entry(labels(key)).or_default().clone()
}

/// Returns the labels of a series as text: letters, digits and `_` in their names.
fn labels(key: &Key) -> String {
    let labels = key.labels().map(|label| {
        let escaped = label.value().replace('\\', r"\\");
        let value = escaped.replace('"', "\\\"").replace('\n', "\\n");
        format!("{}=\"{value}\"", label.key().replace('.', "_"))
    });
    labels.collect::<Vec<_>>().join(",")
}

/// Writes the lines above the series of a metric, which the text calls so.
fn begin_metric(text: &mut String, written: &str, kind: &str, name: &str) {
    let mut rows = HELP.lines().filter_map(|row| row.split_once(": "));
    let row = rows.find(|(known, _)| *known == name);
    let (_, meaning) = row.unwrap_or_default();
    let _ = writeln!(text, "# HELP {written} {meaning}.\n# TYPE {written} {kind}");
}

/// Writes the line of a value; the parts of its name are joined.
fn line(text: &mut String, parts: &[&str], labels: &str, value: impl std::fmt::Display) {
    let name = parts.concat();
    let _ = match labels {
        "" => writeln!(text, "{name} {value}"),
        labels => writeln!(text, "{name}{{{labels}}} {value}"),
    };
}

/// Durations that were recorded.
#[derive(Debug, Default)]
struct Histogram(Mutex<Durations>);

/// The durations of a histogram, in seconds.
#[derive(Debug, Default)]
struct Durations {
    /// How many are above each bucket before and in this one; the last is for those above all.
    counts: [u64; BUCKETS.len() + 1],
    sum: f64,
}

impl Histogram {
    /// Writes the lines of a series.
    fn render(&self, text: &mut String, name: &str, labels: &str) {
        let durations = lock(&self.0);
        let sum = format_args!("{:?}", durations.sum).to_string();
        let count: u64 = durations.counts.iter().sum();
        line(text, &[name, "_sum"], labels, sum);
        line(text, &[name, "_count"], labels, count);
        let bounds = BUCKETS.iter().map(|bound| format!("{bound:?}"));
        let mut below = 0;
        for (bound, count) in bounds.chain(["+Inf".to_owned()]).zip(durations.counts) {
            below += count;
            let comma = if labels.is_empty() { "" } else { "," };
            let labels = format!("le=\"{bound}\"{comma}{labels}");
            line(text, &[name, "_bucket"], &labels, below);
        }
    }
}

impl HistogramFn for Histogram {
    fn record(&self, value: f64) {
        let mut durations = lock(&self.0);
        let bucket = BUCKETS.partition_point(|bound| *bound < value);
        if let Some(count) = durations.counts.get_mut(bucket) {
            *count += 1;
        }
        durations.sum += value;
    }
}

/// The recorder of the facade `metrics`, and the source of the text.
#[derive(Clone, Debug, Default)]
struct Recorder(Arc<Mutex<MetricsRegistry>>);

// The list above has all help texts: what the facade is told of them is not needed.
impl ::metrics::Recorder for Recorder {
    fn describe_counter(&self, _: KeyName, _: Option<::metrics::Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<::metrics::Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: KeyName, _: Option<::metrics::Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> ::metrics::Counter {
        series(&mut lock(&self.0).counters, key).into()
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> ::metrics::Gauge {
        series(&mut lock(&self.0).gauges, key).into()
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> ::metrics::Histogram {
        series(&mut lock(&self.0).durations, key).into()
    }
}

/// Begins to record, and returns what renders the metrics. Returns an error if metrics are recorded already.
pub(super) fn begin() -> anyhow::Result<impl Fn() -> String + Send + Sync + Clone + 'static> {
    let recorder = Recorder::default();
    ::metrics::set_global_recorder(recorder.clone())
        .map_err(|error| anyhow::anyhow!("{error}"))
        .context("--metrics")?;
    Ok(move || lock(&recorder.0).render())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped_and_durations_counted_up_to_each_bound() {
        let mut metrics = MetricsRegistry::default();
        let key = Key::from_parts("mcp_made_total", &[("a.b", "\"\\\n")][..]);
        series(&mut metrics.counters, &key).fetch_add(2, Ordering::Relaxed);
        for seconds in [0.01, 0.011, 400.0] {
            series(&mut metrics.durations, &Key::from_name("mcp.took")).record(seconds);
        }
        let text = metrics.render();
        for line in [
            r#"mcp_made_total{a_b="\"\\\n"} 2"#,
            "mcp_took_seconds_count 3",
            r#"mcp_took_seconds_bucket{le="0.01"} 1"#,
            r#"mcp_took_seconds_bucket{le="0.02"} 2"#,
            r#"mcp_took_seconds_bucket{le="300.0"} 2"#,
            r#"mcp_took_seconds_bucket{le="+Inf"} 3"#,
        ] {
            assert!(text.lines().any(|one| one == line), "{line}\n{text}");
        }
    }
}
