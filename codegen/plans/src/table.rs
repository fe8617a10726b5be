//! The rules of a pair, for people.

use std::fmt::Write as _;

use serde_json::Value;

use super::places::places;
use super::plan::{Effect, PairPlan, PlannedConversion};
use super::rules::{ExampleEnding, PairRules, Sample};
use mcp_revisions_schema::{Error, Spec};

/// Prints the rules of a pair: what each does, where on the wire it applies and what it comes to; and how many conversions
/// needed none. Fails for a rule file that does not read.
pub fn text(plan: &PairPlan, spec: &Spec) -> Result<String, Error> {
    let rules = PairRules::of(&plan.pair, spec)?;
    let exact = |conversions: &[PlannedConversion]| {
        conversions
            .iter()
            .filter(|one| one.effect == Effect::Exact)
            .count()
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
    for row in rules.rows.exemplified() {
        let _ = writeln!(text, "\n{}  {}", row.id, row.at);
        let mut line = |name: &str, told: &str| {
            let _ = writeln!(text, "  {name:5} {told}");
        };
        for (way, action) in &row.says {
            line(way.as_str(), &action_text(action));
        }
        if let Some(severity) = row.rule.and_then(|rule| rule.severity) {
            line("severity", &format!("{severity:?}").to_lowercase());
        }
        line("why", row.reason);
        let paths = places.get(row.id).map_or(&[][..], Vec::as_slice);
        line("wire", &wire(paths));
        row.samples().for_each(|sample| example(&mut text, &sample));
    }
    Ok(text)
}

/// Maximum number of wire paths that are printed for one rule.
const MAX_PATHS: usize = 4;

/// Returns the wire path at which a rule applies, the first of many.
fn wire(paths: &[String]) -> String {
    let told = paths.iter().take(MAX_PATHS).cloned();
    let more = paths.len().saturating_sub(MAX_PATHS);
    let rest = (more > 0).then(|| format!("and {more} more"));
    let all: Vec<String> = told.chain(rest).collect();
    if all.is_empty() {
        "no path of its own".to_owned()
    } else {
        all.join("; ")
    }
}

/// Writes the result of a rule on one value.
fn example(text: &mut String, sample: &Sample<'_>) {
    let Sample { of, way, input, .. } = sample;
    let ending = match sample.ending {
        ExampleEnding::Value(output) => output.to_owned(),
        ExampleEnding::Needs(adapter) => format!("needs {adapter}"),
        ExampleEnding::Rejected(code) => format!("rejected {code}"),
        ExampleEnding::Dropped => "dropped".to_owned(),
    };
    let _ = writeln!(text, "  e.g.  {way}, {of}: {input}");
    let _ = writeln!(text, "     -> {ending}");
    if !sample.loses.is_empty() {
        let places: Vec<String> = sample
            .loses
            .iter()
            .map(|place| format!("`{place}`"))
            .collect();
        let _ = writeln!(text, "        recorded at {}", places.join(", "));
    }
}

/// Returns an action as rule files write it, in brief.
fn action_text(action: &Value) -> String {
    let brief = |(word, of): (&String, &Value)| match (word.as_str(), of) {
        ("only", of) => format!("{word} {}", of["value"]),
        ("reject", of) => format!("{word} {}", of["code"]),
        ("default" | "implied", of) => format!("{word} {of}"),
        (_, Value::String(of)) => format!("{word} {of}"),
        (_, of) => format!("{word} {of}"),
    };
    match action {
        Value::String(word) => word.clone(),
        Value::Object(of) => of.iter().map(brief).collect(),
        _ => String::new(),
    }
}
