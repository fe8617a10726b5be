//! Metrics by the facade `metrics`, under the names of OpenTelemetry where it has any. Feature `metrics`.

#[cfg(feature = "server")]
pub(crate) mod server;

use std::time::Instant;

use ::metrics::{Label, SharedString, counter, gauge, histogram};
use mcp_revisions_core::Revision;
use mcp_wire::{ErrorObject, Json};

/// The label value of a method that no revision has.
const OTHER: &str = "_OTHER";

/// A request on its way: what is recorded once it is answered.
struct Operation {
    name: &'static str,
    method: &'static str,
    began: Instant,
    labels: Vec<Label>,
}

impl Operation {
    fn begin(name: &'static str, method: &'static str) -> Self {
        let labels = vec![Label::from_static_parts("mcp.method.name", method)];
        let began = Instant::now();
        Self {
            name,
            method,
            began,
            labels,
        }
    }

    fn spoken(&mut self, revision: Revision) {
        let version = revision.protocol_version();
        (self.labels).push(Label::from_static_parts("mcp.protocol.version", version));
    }

    fn end(&mut self, error: Option<SharedString>) {
        self.labels
            .extend(error.map(|error| Label::new("error.type", error)));
        let labels = std::mem::take(&mut self.labels);
        histogram!(self.name, labels).record(self.began.elapsed().as_secs_f64());
    }

    /// Returns the kind of error that an answer is.
    fn error(&self, answer: Result<&Json, &ErrorObject>) -> Option<SharedString> {
        match answer {
            Ok(result) => self.is_tool_error(result).then(|| "tool_error".into()),
            Err(error) => Some(code(error)),
        }
    }

    fn is_tool_error(&self, result: &Json) -> bool {
        self.method == mcp_revisions_core::methods::TOOLS_CALL
            && result.text().contains(r#""isError""#)
            && result.get("isError").is_some_and(|it| it.text() == "true")
    }
}

/// Codes that are labels by themselves: those of JSON-RPC and of MCP. A peer can choose any other.
fn code(error: &ErrorObject) -> SharedString {
    match error.code.as_i64() {
        Some(code @ (-32099..=-32000 | -32700 | -32603..=-32600)) => code.to_string().into(),
        _ => OTHER.into(),
    }
}

/// A request to a server, which is recorded in `mcp.client.operation.duration`.
#[doc(hidden)]
pub struct ClientOperation(Option<Operation>);

impl ClientOperation {
    /// Begins to measure a request; `server` is the name that an operator has given the server.
    #[must_use]
    pub fn begin(method: &str, server: Option<&str>) -> Self {
        let mut revisions = Revision::NEGOTIATED.iter().rev();
        let known = revisions.find_map(|it| it.methods().iter().find(|row| row.name == method));
        let method = known.map_or(OTHER, |row| row.name);
        let mut operation = Operation::begin("mcp.client.operation.duration", method);
        operation
            .labels
            .extend(server.map(|it| Label::new("server", it.to_owned())));
        Self(Some(operation))
    }

    /// Records how long the request took, its result, or its error, which is `None` if no answer of the server arrived, and the
    /// revision that was spoken if that is known.
    pub fn end(mut self, answer: Result<&Json, Option<&ErrorObject>>, spoken: Option<Revision>) {
        if let Some(mut operation) = self.0.take() {
            if let Some(spoken) = spoken {
                operation.spoken(spoken);
            }
            let error = match answer {
                Ok(result) => operation.error(Ok(result)),
                Err(Some(error)) => operation.error(Err(error)),
                Err(None) => Some("failed".into()),
            };
            operation.end(error);
        }
    }
}

impl Drop for ClientOperation {
    fn drop(&mut self) {
        if let Some(mut operation) = self.0.take() {
            operation.end(Some("cancelled".into()));
        }
    }
}

pub(super) fn refused(status: u16) {
    counter!("mcp_revisions_refusals_total", "status" => status.to_string()).increment(1);
}

pub(super) fn message_dropped(receiver: &'static str) {
    counter!("mcp_revisions_dropped_messages_total", "receiver" => receiver).increment(1);
}

pub(super) fn session_taken_over() {
    counter!("mcp_revisions_takeovers_total").increment(1);
}

pub(super) fn backplane(is_available: bool) {
    gauge!("mcp_revisions_backplane_available").set(if is_available { 1 } else { 0 });
    if !is_available {
        counter!("mcp_revisions_backplane_failures_total").increment(1);
    }
}

/// Sets the numbers of a service that are measured when they are read, by the names of their metrics.
pub(crate) fn set_levels(levels: &[(&'static str, usize)]) {
    for (name, level) in levels {
        gauge!(*name).set(*level as f64);
    }
}
