//! The report of a probe for people: one table per part.

use std::fmt::Write as _;

use mcp_lock::LISTS;
use serde_json::Value;

use super::checks::{Finding, FindingSeverity};
use super::state::{BridgeRow, Probe, ReadPage};
use crate::colour::{Colour, Paint};

/// Width of the first column.
const FIRST: usize = 14;

/// Returns the report.
pub(super) fn render(probe: &Probe, paint: Paint) -> String {
    let mut text = String::new();
    let server = probe.server.as_ref().map_or(String::new(), |server| {
        let part = |name: &str| server.get(name).and_then(Value::as_str).unwrap_or_default();
        format!(": {} {}", part("name"), part("version"))
    });
    let _ = writeln!(text, "{}{server}", probe.target);
    part(&mut text, "Reach");
    for step in &probe.steps {
        let took = match step.took.as_millis() {
            0 => String::new(),
            millis => format!("{millis} ms"),
        };
        row(&mut text, step.name, &format!("{took:>8}  {}", step.detail));
    }
    if let Some(sign_in) = &probe.sign_in {
        part(&mut text, "Sign-in");
        for request in &sign_in.requests {
            row(&mut text, "asked", request);
        }
        for line in &sign_in.forecast {
            let (name, rest) = line.split_once(": ").unwrap_or(("", line));
            row(&mut text, name, rest);
        }
    }
    revisions(&mut text, probe, paint);
    if !probe.bridge.is_empty() {
        part(&mut text, "Through `mcp-rev bridge`");
        for BridgeRow {
            client,
            server,
            losses,
        } in &probe.bridge
        {
            let speaks = format!("the server is spoken to in {server}");
            let rest = match losses.as_slice() {
                [] if client == server => "as it is".to_owned(),
                [] => format!("{speaks}, and its results lose nothing"),
                _ => format!("{speaks}, and its results lose:"),
            };
            row(&mut text, &format!("{client} client"), &rest);
            for (rule, severity, count, place) in losses {
                let loss = format!("{count} {severity} by the rule {rule}, as at {place}");
                row(&mut text, "", &loss);
            }
        }
    }
    if !probe.facts.is_empty() {
        part(&mut text, "Seen");
        for fact in &probe.facts {
            row(&mut text, "", fact);
        }
    }
    findings(&mut text, probe, paint);
    text
}

/// Writes the revisions and the offer of the server.
fn revisions(text: &mut String, probe: &Probe, paint: Paint) {
    if probe.trials.is_empty() {
        return;
    }
    part(text, "Revisions");
    for trial in &probe.trials {
        let spoken = if trial.is_spoken() {
            paint.with(Colour::Green, "yes")
        } else {
            paint.with(Colour::Red, "no ")
        };
        let detail = format!("{spoken}  {}: {}", trial.method, trial.detail);
        row(text, trial.revision.id(), &detail);
    }
    let mut counted = Vec::new();
    for list in &LISTS {
        // Each list is read once per lifecycle.
        let read = || probe.pages.iter().filter(|page| page.method == list.method);
        let Some(revision) = read().next_back().map(|page| page.revision) else {
            continue;
        };
        let entries = |page: &ReadPage| page.result.read_member::<Vec<mcp_wire::Json>>(page.member);
        let pages = read().filter(|page| page.revision == revision);
        let count: usize = pages.filter_map(entries).map(|entries| entries.len()).sum();
        counted.push(format!("{}s: {count}", list.noun));
    }
    if !counted.is_empty() {
        row(text, "offers", &counted.join(", "));
    }
}

/// Writes the findings, the worst first, and the verdict.
fn findings(text: &mut String, probe: &Probe, paint: Paint) {
    if !probe.findings.is_empty() {
        part(text, "Findings");
    }
    let mut all: Vec<&Finding> = probe.findings.iter().collect();
    all.sort_by_key(|finding| std::cmp::Reverse(finding.check.severity));
    for Finding {
        check,
        revisions,
        place,
        found,
    } in all
    {
        let severity = match check.severity {
            FindingSeverity::Note => check.severity.as_str().to_owned(),
            FindingSeverity::Warning => paint.with(Colour::Cyan, check.severity.as_str()),
            FindingSeverity::Error => paint.with(Colour::Red, check.severity.as_str()),
        };
        let revision = match revisions.as_slice() {
            [] => String::new(),
            all => {
                let ids: Vec<&str> = all.iter().map(|it| it.id()).collect();
                format!(" [{}]", ids.join(", "))
            }
        };
        let _ = writeln!(text, "  {severity} {}{revision} {place}", check.id);
        let mut lines = vec![("found", found.as_str()), ("rule", &check.says)];
        lines.extend(check.page.as_deref().map(|page| ("page", page)));
        lines.push(("change", &check.mend));
        for (name, line) in lines {
            let _ = writeln!(
                text,
                "    {name:<7} {}",
                line.replace('\n', "\n            ")
            );
        }
    }
    let _ = writeln!(text, "\n{}", verdict(probe));
}

/// Returns the verdict in a sentence.
pub(super) fn verdict(probe: &Probe) -> String {
    let count = |severity| {
        let mut all = probe.findings.iter();
        let count = all
            .by_ref()
            .filter(|one| one.check.severity == severity)
            .count();
        let plural = if count == 1 { "" } else { "s" };
        format!("{count} {}{plural}", FindingSeverity::as_str(severity))
    };
    let counts = [
        FindingSeverity::Error,
        FindingSeverity::Warning,
        FindingSeverity::Note,
    ]
    .map(count)
    .join(", ");
    let ready = match (probe.is_reached, probe.readiness()) {
        (false, _) if probe.sign_in.is_some() => "a sign-in is wanted".to_owned(),
        (false, _) => "no answer of MCP".to_owned(),
        (true, (latest, None)) => format!("ready for {latest}"),
        (true, (latest, Some(why))) => format!("ready for {latest}: no, because {why}"),
    };
    format!("{ready}; {counts}")
}

fn part(text: &mut String, title: &str) {
    let _ = writeln!(text, "\n{title}");
}

fn row(text: &mut String, first: &str, rest: &str) {
    let _ = writeln!(text, "  {first:<FIRST$} {rest}");
}
