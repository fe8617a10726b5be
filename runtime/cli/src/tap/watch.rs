//! A line a message, for people who look on while it goes by.

use std::fmt::Write as _;
use std::io::stderr;

use mcp_revisions_core::program::read_messages;
use mcp_wire::{Direction, EXCERPT, ErrorObject, MessageKind, Peeked, RawId, excerpt, printable};

use crate::colour::{Colour, Paint};
use crate::transcript::line::mark;
use crate::transcript::talk::Talk;

/// As many bytes go by until what is known of them is forgotten: ids and names can be as long as messages.
const REMEMBERED: usize = 16 << 20;

/// Number of bytes that a line or a finding counts for, beside its texts.
const EACH: usize = 256;

/// The findings and the state of the traffic so far.
pub(super) struct Watch {
    talk: Talk,
    line: usize,
    /// The bytes that went by since something was forgotten, and the first line of them.
    bytes: usize,
    since: usize,
    paint: Paint,
}

impl Watch {
    pub(super) fn new() -> Self {
        Self {
            talk: Talk::default(),
            line: 0,
            bytes: 0,
            since: 0,
            paint: Paint::of(stderr()),
        }
    }

    /// Returns the text to show for a line: the message, with the time that an answer took, and its faults.
    pub(super) fn sees(&mut self, direction: Direction, at: u64, text: &str) -> String {
        self.line += 1;
        let bytes = text.len() + EACH;
        self.bytes += bytes;
        if self.bytes > REMEMBERED {
            self.talk.forget(self.since);
            (self.bytes, self.since) = (bytes, self.line);
        }
        let mut shown = String::new();
        let messages = read_messages(text).ok();
        let all = messages.iter().flat_map(|messages| &messages.all);
        for message in all.flatten() {
            let told = self.describe(direction, at, message);
            let _ = writeln!(shown, "{told}");
        }
        let before = self.talk.findings.len();
        self.talk.hears(self.line, Some(at), direction, text);
        for finding in self.talk.findings.iter().skip(before) {
            let place = if finding.pointer.is_empty() {
                String::new()
            } else {
                format!(" at {}:", finding.pointer)
            };
            let fault = finding.fault.as_str();
            let told = format!("! {fault} ({}):{place} {}", finding.about, finding.told);
            let told = printable(&told);
            let _ = writeln!(shown, "{}", self.paint.with(Colour::Red, &told));
            self.bytes += finding.pointer.len() + finding.told.len() + EACH;
        }
        shown
    }

    fn describe(&self, direction: Direction, at: u64, message: &Peeked<'_>) -> String {
        let arrow = self.paint.with(
            match direction {
                Direction::ClientToServer => Colour::Cyan,
                Direction::ServerToClient => Colour::Green,
            },
            mark(direction),
        );
        let id_text = message
            .id
            .and_then(RawId::to_id)
            .map(|id| mcp_wire::to_string(&id))
            .unwrap_or_default();
        let waited = self.talk.waited(direction, &id_text, at);
        let id = excerpt(&id_text, EXCERPT);
        let method = waited.map_or_else(|| "?".to_owned(), |(method, _)| excerpt(method, EXCERPT));
        let time = waited.map_or_else(String::new, |(_, took)| format!("  {took} ms"));
        let name = excerpt(message.method.as_deref().unwrap_or_default(), EXCERPT);
        let error = message.error.map(|error| error.to_json().read());
        match (message.kind, error) {
            (MessageKind::Request, _) => format!("{arrow} {id}  {name}"),
            (MessageKind::Notification, _) => format!("{arrow} {name}"),
            (_, Some(Ok(ErrorObject { code, message, .. }))) => {
                let told = format!("{code}: {}", excerpt(&message, EXCERPT));
                let told = self.paint.with(Colour::Red, &told);
                format!("{arrow} {id}  {method}: {told}{time}")
            }
            _ => format!("{arrow} {id}  {method}: ok{time}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{EACH, REMEMBERED, Watch};
    use mcp_wire::Direction::{ClientToServer, ServerToClient};

    /// The ids alone are several times what is remembered, and a request from before all of it still has its answer.
    #[test]
    fn traffic_that_goes_by_for_ever_is_not_kept() {
        let mut watch = Watch::new();
        let ask = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"ping"}}"#);
        let answer = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{{}}}}"#);
        watch.sees(ClientToServer, 0, &ask("first"));
        for number in 0..60 {
            let id = format!("{number}{}", "x".repeat(REMEMBERED / 20));
            watch.sees(ClientToServer, 0, &ask(&id));
            watch.sees(ServerToClient, 0, &answer(&id));
        }
        let kept = format!("{:?}", watch.talk).len();
        assert!(kept < 2 * REMEMBERED, "{kept}");
        let shown = watch.sees(ServerToClient, 7, &answer("first"));
        assert!(shown.contains("ping: ok  7 ms"), "{shown}");
    }

    /// The findings about such lines are many times as long as the lines.
    #[test]
    fn short_lines_that_are_no_messages_are_not_kept_for_ever() {
        let mut watch = Watch::new();
        for _ in 0..2 * REMEMBERED / EACH {
            watch.sees(ServerToClient, 0, "x");
            let kept = watch.talk.findings.len();
            assert!(kept <= REMEMBERED / EACH, "{kept}");
        }
    }
}
