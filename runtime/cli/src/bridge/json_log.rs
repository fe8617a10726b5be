//! The log as JSON: one object per event, with `timestamp`, `level`, `message`, and the fields of the event.

use std::fmt::{Debug, Write as _};

use mcp_wire::{EXCERPT, Json, Map, excerpt};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime as _, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// Maximum number of characters of the message of an event: it quotes peers.
pub(super) const MESSAGE: usize = 1_000;

/// Writes each event as a line of JSON.
pub(super) struct JsonLines;

impl<S, N> FormatEvent<S, N> for JsonLines
where
    S: Subscriber + for<'s> LookupSpan<'s>,
    N: for<'w> FormatFields<'w> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> std::fmt::Result {
        let mut timestamp = String::new();
        SystemTime.format_time(&mut Writer::new(&mut timestamp))?;
        let mut members = LogMembers::default();
        members.insert("timestamp", Json::of(&timestamp));
        members.insert("level", Json::of(event.metadata().level().as_str()));
        event.record(&mut members);
        writeln!(writer, "{}", mcp_wire::to_string(&members.0))
    }
}

/// The members of a line. A text may be that of a peer: it is cut.
#[derive(Default)]
struct LogMembers(Map<Json>);

impl LogMembers {
    fn insert(&mut self, name: &str, value: Json) {
        self.0.insert(name, value);
    }
}

impl Visit for LogMembers {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let mut text = String::new();
        // A text takes any text.
        let _ = write!(text, "{value:?}");
        self.record_str(field, &text);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        let most = if field.name() == "message" {
            MESSAGE
        } else {
            EXCERPT
        };
        self.insert(field.name(), Json::of(&*excerpt(value, most)));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.insert(field.name(), Json::of(&value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        match i64::try_from(value) {
            Ok(value) => self.record_i64(field, value),
            Err(_) => self.record_str(field, &value.to_string()),
        }
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.insert(field.name(), Json::of(&value));
    }
}
