//! The rules of a pair, for people.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;

use super::pair::Way;
use super::places::places;
use super::plan::PairPlan;
use super::rules::{Ending, PairRules, Sample};
use crate::{Error, Spec};

/// Prints the rules of a pair: what each does, where on the wire it applies and what it comes to; and how many conversions
/// needed none.
///
/// # Errors
/// A rule file that does not read.
pub fn text(plan: &PairPlan, spec: &Spec) -> Result<String, Error> {
    let rules = PairRules::of(&plan.pair, spec)?;
    let mut rows: Vec<Row<'_>> = Vec::new();
    for rule in rules.rules() {
        rows.push(Row {
            id: &rule.id,
            at: rule.at.all().join(", "),
            up: rule.up.as_ref().map(shown),
            down: rule.down.as_ref().map(shown),
            loss: (rule.loss).map(|loss| format!("{loss:?}").to_lowercase()),
            reason: &rule.reason,
        });
    }
    for method in rules.methods() {
        rows.push(Row {
            id: &method.id,
            at: method.name.all().join(", "),
            up: method.action(Way::Up).map(shown),
            down: method.action(Way::Down).map(shown),
            loss: None,
            reason: &method.reason,
        });
    }
    for error in rules.errors() {
        let at = match &error.method {
            Some(methods) => format!("error {} of {}", error.code, methods.all().join(", ")),
            None => format!("error {}", error.code),
        };
        rows.push(Row {
            id: &error.id,
            at,
            up: error.up.as_ref().map(shown),
            down: error.down.as_ref().map(shown),
            loss: None,
            reason: &error.reason,
        });
    }
    let exact = |conversions: &[super::plan::Conversion]| {
        conversions.iter().filter(|one| one.exact).count()
    };
    let both = plan.methods.iter().filter(|method| method.in_both).count();
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
    let places = places(plan);
    let samples: Vec<Sample<'_>> = rules.samples().collect();
    for row in &rows {
        let _ = writeln!(text, "\n{}  {}", row.id, row.at);
        let mut line = |name: &str, told: &str| {
            let _ = writeln!(text, "  {name:5} {told}");
        };
        for (name, told) in [("up", &row.up), ("down", &row.down), ("loss", &row.loss)] {
            if let Some(told) = told {
                line(name, told);
            }
        }
        line("why", row.reason);
        line(
            "wire",
            &wire(places.get(row.id).map_or(&[][..], Vec::as_slice)),
        );
        for sample in samples.iter().filter(|sample| sample.rule == row.id) {
            example(&mut text, sample);
        }
    }
    Ok(text)
}

/// The row of one rule.
struct Row<'r> {
    id: &'r str,
    at: String,
    up: Option<String>,
    down: Option<String>,
    loss: Option<String>,
    reason: &'r str,
}

/// Maximum number of wire paths that are printed for one rule.
const MAX_PATHS: usize = 4;

/// Where on the wire a rule applies, the first of many.
fn wire(paths: &[String]) -> String {
    let told = paths.iter().take(MAX_PATHS).cloned();
    let more = paths.len().saturating_sub(MAX_PATHS);
    let rest = (more > 0).then(|| format!("and {more} more"));
    let all: Vec<String> = told.chain(rest).collect();
    match all.is_empty() {
        true => "no path of its own".to_owned(),
        false => all.join("; "),
    }
}

/// What a rule comes to, on one value.
fn example(text: &mut String, sample: &Sample<'_>) {
    let Sample {
        of,
        way,
        input,
        ending,
        loses,
        ..
    } = sample;
    let ending = match ending {
        Ending::Value(output) => (*output).to_owned(),
        Ending::Needs(adapter) => format!("needs {adapter}"),
        Ending::Rejected(code) => format!("rejected {code}"),
        Ending::Dropped => "dropped".to_owned(),
    };
    let _ = writeln!(text, "  e.g.  {way}, {of}: {input}");
    let _ = writeln!(text, "     -> {ending}");
    if !loses.is_empty() {
        let places: Vec<String> = loses.iter().map(|place| format!("`{place}`")).collect();
        let _ = writeln!(text, "        recorded at {}", places.join(", "));
    }
}

/// An action as rule files write it, in brief.
fn shown(action: &impl Serialize) -> String {
    let brief = |(word, of): (String, Value)| match (word.as_str(), of) {
        ("only", of) => format!("{word} {}", of["value"]),
        ("reject", of) => format!("{word} {}", of["code"]),
        ("default" | "implied", of) => format!("{word} {of}"),
        (_, Value::String(of)) => format!("{word} {of}"),
        (_, of) => format!("{word} {of}"),
    };
    match serde_json::to_value(action) {
        Ok(Value::String(word)) => word,
        Ok(Value::Object(of)) => of.into_iter().map(brief).collect(),
        _ => String::new(),
    }
}
