//! The report of a probe for programs: one object, as `schemas/probe.schema.json` has it.

use serde_json::{Value, json};

use super::checks::Finding;
use super::state::{BridgeRow, Probe};
use super::text::verdict;

/// Returns the report, in one line.
pub(super) fn render(probe: &Probe) -> String {
    let (latest, why) = probe.readiness();
    let steps = probe.steps.iter().map(|step| {
        let millis = u64::try_from(step.took.as_millis()).unwrap_or(u64::MAX);
        json!({ "name": step.name, "ms": millis, "detail": step.detail })
    });
    let sign_in = probe.sign_in.as_ref().map(
        |it| json!({ "challenge": it.challenge, "requests": it.requests, "forecast": it.forecast }),
    );
    let revisions = probe.trials.iter().map(|trial| {
        json!({
            "revision": trial.revision.id(), "method": trial.method, "spoken": trial.is_spoken(),
            "answer": trial.detail,
        })
    });
    let report = json!({
        "target": probe.target,
        "server": probe.server,
        "reached": probe.is_reached,
        "ready": { "revision": latest.id(), "ready": probe.is_reached && why.is_none(), "why": why },
        "verdict": verdict(probe),
        "steps": steps.collect::<Value>(),
        "signIn": sign_in,
        "revisions": revisions.collect::<Value>(),
        "bridge": probe.bridge.iter().map(bridge).collect::<Value>(),
        "facts": probe.facts,
        "findings": probe.findings.iter().map(finding).collect::<Value>(),
    });
    format!("{report}\n")
}

fn bridge(row: &BridgeRow) -> Value {
    let BridgeRow {
        client,
        server,
        losses,
    } = row;
    let rows = losses.iter().map(|(rule, severity, count, place)| {
        json!({ "rule": rule, "severity": severity, "count": count, "pointer": place })
    });
    json!({ "client": client.id(), "server": server.id(), "losses": rows.collect::<Value>() })
}

fn finding(finding: &Finding) -> Value {
    let Finding {
        check,
        revisions,
        place,
        found,
    } = finding;
    json!({
        "check": check.id, "severity": check.severity.as_str(),
        "revisions": revisions.iter().map(|it| it.id()).collect::<Vec<_>>(), "where": place, "found": found,
        "rule": check.says, "page": check.page, "change": check.mend,
    })
}
