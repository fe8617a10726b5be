//! The report on a recorded session, as text and as JSON Lines.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mcp_wire::{Direction, printable};
use serde_json::{Value, json};

use super::calls::MethodCalls;
use super::finding::TranscriptFinding;
use super::other::{Effects, Other};
use super::sender;
use super::talk::Talk;

/// All that was found out.
pub(crate) struct Report<'r> {
    pub(crate) file: &'r str,
    /// Number of lines that hold a message.
    pub(crate) count: usize,
    pub(crate) talk: &'r Talk,
    pub(crate) other: Option<&'r Other>,
}

fn counted(count: usize, one: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        _ => format!("{count} {one}s"),
    }
}

impl Report<'_> {
    fn spoken(&self) -> Vec<&'static str> {
        self.talk
            .spoken
            .iter()
            .map(|revision| revision.id())
            .collect()
    }

    /// Findings first, then what went on.
    pub(crate) fn text(&self) -> String {
        let Self {
            file,
            count,
            talk,
            other,
        } = self;
        let mut text = String::new();
        for finding in talk.findings.iter() {
            let TranscriptFinding {
                line,
                fault,
                pointer,
                about,
                told,
            } = finding;
            let place = if pointer.is_empty() {
                String::new()
            } else {
                format!(" at {pointer}:")
            };
            let about = if about.is_empty() {
                String::new()
            } else {
                format!(" ({about})")
            };
            let found = printable(&format!("{about}:{place} {told}"));
            let _ = writeln!(text, "{file}:{line}: {}{found}", fault.as_str());
        }
        if !text.is_empty() {
            text.push('\n');
        }
        let spoken = match self.spoken().join(", ") {
            none if none.is_empty() => "no revision".to_owned(),
            some => some,
        };
        let _ = writeln!(text, "{}, {spoken}", counted(*count, "message"));
        for ((direction, method), calls) in talk.calls() {
            let MethodCalls {
                sent,
                answered,
                failed,
                slowest,
            } = calls;
            let (sender, method) = (sender(*direction), printable(method));
            let _ = write!(text, "  {sender:6}  {sent:>4} x {method}");
            let mut more = vec![format!("{answered} answered")];
            if *failed > 0 {
                more.push(format!("{failed} with an error"));
            }
            if let Some(slowest) = slowest {
                more.push(format!("slowest {slowest} ms"));
            }
            let _ = writeln!(text, ": {}", more.join(", "));
        }
        for ((direction, method), count) in &talk.notifications {
            let (sender, method) = (sender(*direction), printable(method));
            let _ = writeln!(text, "  {sender:6}  {count:>4} x {method}");
        }
        for ((direction, method), count) in &talk.unknown {
            let (sender, method) = (sender(*direction), printable(method));
            let _ = writeln!(
                text,
                "unknown method  {count:>4} x {method}, from the {sender}"
            );
        }
        if let Some(other) = other {
            text.push_str(&with(other));
        }
        let found = match talk.findings.len() {
            0 => "no findings".to_owned(),
            count => counted(count, "finding"),
        };
        let _ = writeln!(text, "{found}");
        text
    }

    /// Returns a line each: findings, losses, the summary.
    pub(crate) fn json(&self) -> String {
        let mut text = String::new();
        for finding in self.talk.findings.iter() {
            let row = json!({
                "finding": finding.fault.as_str(),
                "line": finding.line,
                "pointer": finding.pointer,
                "about": finding.about,
                "message": finding.told,
            });
            let _ = writeln!(text, "{row}");
        }
        for ((step, rule), loss) in self.other.iter().flat_map(|other| &other.losses) {
            let row = json!({
                "loss": loss.cost.to_string(),
                "step": step,
                "rule": rule,
                "count": loss.count,
                "line": loss.line,
                "method": loss.method,
                "pointer": loss.pointer,
            });
            let _ = writeln!(text, "{row}");
        }
        let calls = |(key, calls): (&(Direction, String), &MethodCalls)| {
            json!({
                "from": sender(key.0),
                "method": key.1,
                "sent": calls.sent,
                "answered": calls.answered,
                "failed": calls.failed,
                "slowest": calls.slowest,
            })
        };
        let counts = |rows: &BTreeMap<(Direction, String), usize>| -> Value {
            let row = |((direction, method), count): (&(Direction, String), &usize)| json!({ "from": sender(*direction), "method": method, "count": count });
            rows.iter().map(row).collect()
        };
        let mut summary = json!({
            "messages": self.count,
            "revisions": self.spoken(),
            "findings": self.talk.findings.len(),
            "calls": self.talk.calls().iter().map(calls).collect::<Value>(),
            "notifications": counts(&self.talk.notifications),
            "unknownMethods": counts(&self.talk.unknown),
        });
        if let (Some(other), Value::Object(row)) = (self.other, &mut summary) {
            let told = json!({ "revision": other.revision.id(), "messages": other.all, "whole": other.whole });
            row.insert("as".to_owned(), told);
        }
        let _ = writeln!(text, "{}", json!({ "summary": summary }));
        text
    }
}

/// Returns the report of the losses with the other revision.
fn with(other: &Other) -> String {
    let Other {
        revision,
        losses,
        whole,
        all,
    } = other;
    let mut text = format!(
        "with a peer of {revision}: {whole} of {} known to their revision would lose nothing\n",
        counted(*all, "message")
    );
    for ((step, rule), loss) in losses {
        let Effects {
            cost,
            count,
            line,
            pointer,
            method,
        } = loss;
        let place = if pointer.is_empty() {
            String::new()
        } else {
            format!(" at {pointer}")
        };
        let _ = writeln!(
            text,
            "  {cost:11}  {count:>4} x {rule} ({step}), first on line {line}, {method}{place}"
        );
    }
    text
}
