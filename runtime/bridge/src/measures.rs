//! The metrics of the bridge, by the facade `metrics`. The label `server` is the name of the server, if it has one.

use std::sync::Arc;

use mcp_revisions_core::Loss;
use metrics::{Label, counter, gauge};

use crate::Error;

/// The name of a server in metrics.
pub(crate) type Name = Option<Arc<str>>;

fn labels(name: &Name) -> Vec<Label> {
    let name = name
        .as_ref()
        .map(|name| Label::new("server", Arc::clone(name)));
    name.into_iter().collect()
}

/// A connection to a server that is open, or about to be, in the number of them.
#[derive(Debug)]
pub(crate) struct OpenServer(Name);

impl OpenServer {
    pub(crate) fn new(name: &Name) -> Self {
        gauge!("mcp_bridge_servers", labels(name)).increment(1);
        Self(name.clone())
    }

    /// Returns the name of the server, if it has one.
    pub(crate) fn name(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl Drop for OpenServer {
    fn drop(&mut self) {
        gauge!("mcp_bridge_servers", labels(&self.0)).decrement(1);
    }
}

/// Counts a server that could not be started or reached, unless the bridge ended during the start.
pub(crate) fn failed_start(name: &Name, error: &Error) {
    if !matches!(error, Error::Closed) {
        counter!("mcp_bridge_server_failures_total", labels(name)).increment(1);
    }
}

/// Counts a server that ended by itself.
pub(crate) fn ended_by_itself(name: &Name) {
    counter!("mcp_bridge_server_ends_total", labels(name)).increment(1);
}

/// Counts a request that was answered by a result that clients share.
pub(crate) fn answered_from_cache(name: &Name) {
    counter!("mcp_bridge_cache_hits_total", labels(name)).increment(1);
}

/// Counts what a message of or to a server lost.
pub(crate) fn losses(losses: &[Loss]) {
    for loss in losses.iter().filter(|loss| loss.is_loss()) {
        let (rule, severity) = (loss.rule(), loss.severity().as_str());
        let counter = counter!("mcp_revisions_losses_total", "end" => "server", "rule" => rule, "severity" => severity);
        counter.increment(1);
    }
}
