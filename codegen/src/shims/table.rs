//! The rules of a pair as a table for people.

use std::fmt::Write as _;

use super::pair::Way;
use super::plan::{Fate, PairPlan};
use super::rules::{Action, ErrorFate, MethodAction, MethodRule, PairRules, SessionFact};
use crate::{Error, Spec};

/// The table of a pair: its rules, and how many conversions needed none.
///
/// # Errors
/// A rule file that does not read.
pub fn text(plan: &PairPlan, spec: &Spec) -> Result<String, Error> {
    let rules = PairRules::of(&plan.pair, spec)?;
    let mut rows = vec![["rule", "at", "up", "down", "loss", "reason"].map(str::to_owned)];
    for rule in rules.rules() {
        let loss = rule.loss.map(|loss| format!("{loss:?}").to_lowercase());
        rows.push([
            rule.id.clone(),
            rule.at.all().join(", "),
            rule.up.as_ref().map_or_else(|| "-".to_owned(), shown),
            rule.down.as_ref().map_or_else(|| "-".to_owned(), shown),
            loss.unwrap_or_else(|| "-".to_owned()),
            rule.reason.clone(),
        ]);
    }
    for method in rules.methods() {
        rows.push([
            method.id.clone(),
            method.name.all().join(", "),
            way(method, Way::Up),
            way(method, Way::Down),
            "-".to_owned(),
            method.reason.clone(),
        ]);
    }
    let fate = |fate: &Option<ErrorFate>| match fate {
        Some(ErrorFate::Code(code)) => format!("code {code}"),
        Some(ErrorFate::NeedsState(adapter)) => format!("needs-state {adapter}"),
        None => "-".to_owned(),
    };
    for error in rules.errors() {
        let at = match &error.method {
            Some(methods) => format!("error {} of {}", error.code, methods.all().join(", ")),
            None => format!("error {}", error.code),
        };
        let (up, down) = (fate(&error.up), fate(&error.down));
        rows.push([
            error.id.clone(),
            at,
            up,
            down,
            "-".to_owned(),
            error.reason.clone(),
        ]);
    }
    let exact = |conversions: &[super::plan::Conversion]| {
        conversions.iter().filter(|one| one.exact).count()
    };
    let both = plan
        .methods
        .iter()
        .filter(|method| matches!(method.fate, Fate::Both { .. }))
        .count();
    let mut text = format!(
        "{} .. {}: {both} of {} methods in both; up {} conversions, {} of them exact; down {}, {} of them exact\n",
        plan.pair.old,
        plan.pair.new,
        plan.methods.len(),
        plan.up.len(),
        exact(&plan.up),
        plan.down.len(),
        exact(&plan.down),
    );
    let mut widths = [0; 5];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    for [id, at, up, down, loss, reason] in &rows {
        let _ = writeln!(
            text,
            "{id:a$}  {at:b$}  {up:c$}  {down:d$}  {loss:e$}  {reason}",
            a = widths[0],
            b = widths[1],
            c = widths[2],
            d = widths[3],
            e = widths[4],
        );
    }
    Ok(text)
}

fn way(method: &MethodRule, way: Way) -> String {
    method
        .action(way)
        .map_or_else(|| "-".to_owned(), shown_method)
}

fn shown_method(action: &MethodAction) -> String {
    match action {
        MethodAction::Drop => "drop".to_owned(),
        MethodAction::NeedsState(adapter) => format!("needs-state {adapter}"),
        MethodAction::Subscribed => "subscribed".to_owned(),
        MethodAction::Reject(error) => format!("reject {}", error.code),
    }
}

fn shown(action: &Action) -> String {
    match action {
        Action::Drop => "drop".to_owned(),
        Action::Pass => "pass".to_owned(),
        Action::Empty => "empty".to_owned(),
        Action::Filter(path) => format!("filter {path}"),
        Action::Default(value) => format!("default {value}"),
        Action::Implied(value) => format!("implied {value}"),
        Action::Only(only) => format!("only {}", only.value),
        Action::Adopt => "adopt".to_owned(),
        Action::Swallow => "swallow".to_owned(),
        Action::Session(SessionFact::ClientInfo) => "session client-info".to_owned(),
        Action::Session(SessionFact::SubscriptionId) => "session subscription-id".to_owned(),
        Action::Session(SessionFact::ClientCapabilities) => {
            "session client-capabilities".to_owned()
        }
        Action::NeedsState(adapter) => format!("needs-state {adapter}"),
        Action::Reject(error) => format!("reject {}", error.code),
        Action::Custom(path) => format!("custom {path}"),
        Action::Before(path) => format!("before {path}"),
        Action::After(path) => format!("after {path}"),
    }
}
