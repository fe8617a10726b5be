//! Metrics of the bridge as the text that Prometheus reads.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use anyhow::Context as _;
use mcp_revisions::service::lock;
use metrics::{CounterFn, GaugeFn, HistogramFn, Key, KeyName, Metadata, SharedString};
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

/// Seconds up to which durations are counted, as OpenTelemetry has them for MCP.
const BUCKETS: [f64; 14] = [
    0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0,
];

/// The metrics, each on a line with its help text, to which the registry adds a full stop.
const GAUGES: &str = "\
mcp_bridge_servers: Connections to servers that are open, or processes of them
mcp_revisions_sessions: Sessions of clients that are open
mcp_revisions_suspended_requests: Requests that wait for the input of their client
mcp_revisions_request_bytes: Bytes of requests that are read or worked on
mcp_revisions_unread_bytes: Bytes of responses that clients have not read
mcp_revisions_backplane_available: Whether the backplane can be used, 1 or 0";
const COUNTERS: &str = "\
mcp_bridge_server_failures_total: Servers that could not be started or reached
mcp_bridge_server_ends_total: Servers that ended by themselves
mcp_bridge_cache_hits_total: Requests answered by a result that its server lets clients share
mcp_revisions_losses_total: Losses of conversions, by rule and severity, at the end towards clients or servers
mcp_revisions_undelivered_total: Messages that were rejected or dropped, by rule
mcp_revisions_refusals_total: Requests that were refused before they were handled, by HTTP status
mcp_revisions_dropped_messages_total: Messages that a client or a handler had no room for
mcp_revisions_takeovers_total: Sessions that went on here after their replica was gone
mcp_revisions_backplane_failures_total: Times that the backplane was lost";
const DURATIONS: &str = "\
mcp.server.operation.duration: Seconds from a request of a client to its response
mcp.client.operation.duration: Seconds from a request to a server to its response";

/// The labels of one series of a metric.
type Labels = Vec<(String, String)>;

/// A histogram per series.
type Durations = Family<Labels, Histogram, fn() -> Histogram>;

/// The metrics of the program, each a family of series by their labels.
#[derive(Debug, Default)]
struct MetricsRegistry {
    registry: Registry,
    counters: BTreeMap<String, Family<Labels, Counter>>,
    gauges: BTreeMap<String, Family<Labels, Gauge<f64, AtomicU64>>>,
    durations: BTreeMap<String, Durations>,
}

impl MetricsRegistry {
    /// Creates the metrics that the tables above list, without a series.
    fn new() -> Self {
        let mut metrics = Self::default();
        for (name, meaning) in rows(COUNTERS) {
            metrics.counter(name, meaning);
        }
        for (name, meaning) in rows(GAUGES) {
            metrics.gauge(name, meaning);
        }
        for (name, meaning) in rows(DURATIONS) {
            metrics.duration(name, meaning);
        }
        metrics
    }

    /// Returns the counter of that name, which is registered if it is new. Its text has the ending `_total`.
    fn counter(&mut self, name: &str, meaning: &str) -> &Family<Labels, Counter> {
        let Self {
            registry, counters, ..
        } = self;
        counters.entry(name.to_owned()).or_insert_with(|| {
            let family = Family::default();
            let stem = name.strip_suffix("_total").unwrap_or(name);
            registry.register(stem, meaning, family.clone());
            family
        })
    }

    /// Returns the gauge of that name, which is registered if it is new.
    fn gauge(&mut self, name: &str, meaning: &str) -> &Family<Labels, Gauge<f64, AtomicU64>> {
        let Self {
            registry, gauges, ..
        } = self;
        gauges.entry(name.to_owned()).or_insert_with(|| {
            let family = Family::default();
            registry.register(name, meaning, family.clone());
            family
        })
    }

    /// Returns the histogram of that name, which is registered if it is new. Its text has `_` for each dot, and the ending `_seconds`.
    fn duration(&mut self, name: &str, meaning: &str) -> &Durations {
        let Self {
            registry,
            durations,
            ..
        } = self;
        durations.entry(name.to_owned()).or_insert_with(|| {
            let family = Family::new_with_constructor((|| Histogram::new(BUCKETS)) as fn() -> _);
            registry.register_with_unit(
                name.replace('.', "_"),
                meaning,
                Unit::Seconds,
                family.clone(),
            );
            family
        })
    }
}

/// Returns the names and the help texts of a table.
fn rows(table: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    table.lines().filter_map(|row| row.split_once(": "))
}

/// Returns the labels of a series: letters, digits and `_` in their names.
fn labels(key: &Key) -> Labels {
    let labels = key.labels();
    labels
        .map(|label| (label.key().replace('.', "_"), label.value().to_owned()))
        .collect()
}

/// The recorder of the facade `metrics`, and the source of the text.
#[derive(Clone, Debug)]
struct Recorder(Arc<Mutex<MetricsRegistry>>);

impl Recorder {
    fn metrics(&self) -> MutexGuard<'_, MetricsRegistry> {
        lock(&self.0)
    }
}

/// One series, as the facade writes to it.
struct Series<M>(M);

impl CounterFn for Series<Counter> {
    fn increment(&self, value: u64) {
        self.0.inc_by(value);
    }

    fn absolute(&self, value: u64) {
        self.0.inner().fetch_max(value, Ordering::Relaxed);
    }
}

impl GaugeFn for Series<Gauge<f64, AtomicU64>> {
    fn increment(&self, value: f64) {
        self.0.inc_by(value);
    }

    fn decrement(&self, value: f64) {
        self.0.dec_by(value);
    }

    fn set(&self, value: f64) {
        self.0.set(value);
    }
}

impl HistogramFn for Series<Histogram> {
    fn record(&self, value: f64) {
        self.0.observe(value);
    }
}

// The tables above have all help texts: what the facade is told of them is not needed.
impl ::metrics::Recorder for Recorder {
    fn describe_counter(&self, _: KeyName, _: Option<::metrics::Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<::metrics::Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: KeyName, _: Option<::metrics::Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> ::metrics::Counter {
        let series = self
            .metrics()
            .counter(key.name(), "")
            .get_or_create_owned(&labels(key));
        ::metrics::Counter::from_arc(Arc::new(Series(series)))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> ::metrics::Gauge {
        let series = self
            .metrics()
            .gauge(key.name(), "")
            .get_or_create_owned(&labels(key));
        ::metrics::Gauge::from_arc(Arc::new(Series(series)))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> ::metrics::Histogram {
        let series = self
            .metrics()
            .duration(key.name(), "")
            .get_or_create_owned(&labels(key));
        ::metrics::Histogram::from_arc(Arc::new(Series(series)))
    }
}

/// Begins to record, and returns what renders the metrics. Returns an error if metrics are recorded already.
pub(super) fn begin() -> anyhow::Result<impl Fn() -> String + Send + Sync + Clone + 'static> {
    let recorder = Recorder(Arc::new(Mutex::new(MetricsRegistry::new())));
    ::metrics::set_global_recorder(recorder.clone())
        .map_err(|error| anyhow::anyhow!("{error}"))
        .context("--metrics")?;
    Ok(move || {
        let mut text = String::new();
        // Writing into a string cannot fail.
        let _ = encode(&mut text, &recorder.metrics().registry);
        text
    })
}
