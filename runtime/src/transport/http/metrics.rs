//! Metrics at a path of their own, in the text of whichever exporter the application has.

use std::sync::Arc;

use http::header::{ALLOW, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode};

use super::answers::{plain, refused, status};
use super::{Body, Counters, Options};
use crate::transport::observe;

/// The media type of the text that Prometheus reads, and that of its successor, whose last line says so.
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4");
const OPEN_METRICS: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

/// The path of metrics, and what renders them.
#[derive(Clone)]
pub(super) struct Metrics {
    pub(super) path: Arc<str>,
    render: Arc<dyn Fn() -> String + Send + Sync>,
}

impl Metrics {
    pub(super) fn new(path: String, render: Arc<dyn Fn() -> String + Send + Sync>) -> Self {
        Self {
            path: path.into(),
            render,
        }
    }

    /// Answers a request for the metrics.
    fn answer(&self, head: &Parts, options: &Options) -> Response<Body> {
        if let Err(why) = options.admits(head) {
            return refused(StatusCode::FORBIDDEN, &why);
        }
        if !matches!(head.method, Method::GET | Method::HEAD) {
            let mut wrong = status(StatusCode::METHOD_NOT_ALLOWED);
            wrong
                .headers_mut()
                .insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return wrong;
        }
        let text = (self.render)();
        let is_open = text.ends_with("# EOF\n");
        let mut rendered = plain(StatusCode::OK, &text);
        let media_type = if is_open { OPEN_METRICS } else { TEXT };
        rendered.headers_mut().insert(CONTENT_TYPE, media_type);
        rendered
    }
}

impl Options {
    /// Answers a request for the [metrics](Self::with_metrics) of a service that is at this; `None` if it is for another path.
    #[doc(hidden)]
    #[must_use]
    pub fn metrics(
        &self,
        head: &Parts,
        levels: impl FnOnce() -> Counters,
    ) -> Option<Response<Body>> {
        let metrics = self
            .metrics
            .as_ref()
            .filter(|metrics| *metrics.path == *head.uri.path())?;
        let counters = levels();
        observe::set_levels(&[
            ("mcp_revisions_sessions", counters.sessions),
            (
                "mcp_revisions_suspended_requests",
                counters.suspended_requests,
            ),
            ("mcp_revisions_request_bytes", counters.request_bytes),
            ("mcp_revisions_unread_bytes", counters.unread_bytes),
        ]);
        Some(metrics.answer(head, self))
    }
}
