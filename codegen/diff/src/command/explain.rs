//! `explain`: what a kind of change means, what a conversion rule does, and what else a diff names.

use std::fmt::Write as _;

use clap::Args;
use serde::Deserialize;
use serde_json::Value;

use super::{CommandOutcome, UnreadOption};
use crate::render::peers;
use crate::{ChangeKind, PROVEN};
use mcp_revisions_schema::naming::nearest;
use mcp_revisions_schema::pair::RevisionPair;
use mcp_revisions_schema::spec::changes::{ProseChanges, RefusingTransport};
use mcp_revisions_schema::spec::errors::{CodeRange, ErrorRules, Header};
use mcp_revisions_schema::spec::{Erratum, RevisionStage};
use mcp_revisions_schema::{Error, Spec};

/// Options of `explain`.
#[derive(Args, Debug)]
pub struct Arguments {
    /// Kind of change, fingerprint, error or its code, header, or id of a conversion rule, of a rule of the protocol, of an erratum or
    /// of a change that only pages tell, as `diff` and losses name it [default: list all kinds]
    #[arg(allow_negative_numbers = true)]
    pub name: Option<String>,
}

/// Explains a kind of change or the rules of an id, or lists all kinds; `own` reads the spec of the program, and `built_in` are
/// the rules that stand in no file of it: the id and the reason of each. Fails for a name that is neither, and a spec that
/// cannot be read.
pub fn run(
    arguments: &Arguments,
    own: impl FnOnce() -> Result<Spec, Error>,
    built_in: &[(&str, &str)],
) -> anyhow::Result<CommandOutcome> {
    let Some(name) = &arguments.name else {
        let line = |kind: &ChangeKind| format!("{:<22}  {}\n", kind.id(), kind.explain().means);
        return Ok(CommandOutcome::passed(
            ChangeKind::ALL.iter().map(line).collect(),
        ));
    };
    if let Some(kind) = ChangeKind::ALL.iter().find(|kind| kind.id() == name) {
        let told = kind.explain();
        return Ok(CommandOutcome::passed(format!(
            "{kind}\n\nWhat it means: {}\nWho breaks:    {}\nWhat to do:    {}\nFor example:   {}\n",
            told.means, told.breaks, told.todo, told.example
        )));
    }
    if let Some((id, reason)) = built_in.iter().find(|(id, _)| id == name) {
        let text = format!("{id}: conversion rule of every pair\n\nWhy:         {reason}\n");
        return Ok(CommandOutcome::passed(text));
    }
    if name == PROVEN {
        let text = format!(
            "{PROVEN}: no conversion rule\n\nWhat it means: the planner has shown that a value of one revision is one of the other as it stands.\n"
        );
        return Ok(CommandOutcome::passed(text));
    }
    if is_fingerprint(name) {
        let text = format!(
            "{name}: fingerprint of a change\n\nWhat it means: the change of a diff that `--ignore {name}` or a line of a `--baseline` file sets aside.\nWhich it is:   `mcp-rev diff OLD NEW --verbose --fingerprints` prints it with its change.\n"
        );
        return Ok(CommandOutcome::passed(text));
    }
    let spec = own().map_err(UnreadOption)?;
    let stated = ErrorRules::read(&spec).map_err(UnreadOption)?;
    let changes = ProseChanges::of(&spec).map_err(UnreadOption)?;
    let facts = facts(&spec, (&stated, &changes), name);
    let rules = rules(&spec)?;
    let code = name.parse::<i64>().ok().map(Value::from);
    let is_named = |(_, rule): &&(String, Value)| {
        let of_code = code.is_some() && rule.get("code") == code.as_ref();
        of_code || rule.get("id").is_some_and(|id| id == name)
    };
    let named = rules
        .iter()
        .filter(is_named)
        .map(|(pair, rule)| of_rule(pair, rule));
    let named: Vec<String> = facts.into_iter().chain(named).collect();
    if !named.is_empty() {
        return Ok(CommandOutcome::passed(named.join("\n")));
    }
    let ids = rules
        .iter()
        .filter_map(|(_, rule)| rule.get("id")?.as_str())
        .chain(built_in.iter().map(|(id, _)| *id));
    let known = (ChangeKind::ALL.iter().map(|kind| kind.id()))
        .chain(ids)
        .chain(fact_names(&spec, (&stated, &changes)));
    let help = match nearest(name, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`explain` without a name lists the kinds of change".to_owned(),
    };
    let problem = format!("a diff names nothing `{name}`");
    Err(Error::usage(problem, help).into())
}

/// Returns whether a name is that of a change in a diff.
fn is_fingerprint(name: &str) -> bool {
    let is_digit = |letter: char| letter.is_ascii_digit() || ('a'..='f').contains(&letter);
    name.len() == 12 && name.chars().all(is_digit)
}

/// Returns the names under which [`facts`] finds something.
fn fact_names<'s>(
    spec: &'s Spec,
    (stated, changes): (&'s ErrorRules, &'s ProseChanges),
) -> impl Iterator<Item = &'s str> {
    (stated.rules.iter().map(|rule| &*rule.id))
        .chain(stated.errors.iter().map(|error| &*error.name))
        .chain(stated.ranges.iter().map(|range| &*range.name))
        .chain(stated.headers.iter().map(|header| &*header.name))
        .chain(errata(spec).map(|(.., erratum)| &*erratum.id))
        .chain(changes.all().map(|change| &*change.id))
}

/// Returns each erratum of each revision and of each state of an extension, with the stage and the id of that, and the name
/// of the extension.
fn errata(spec: &Spec) -> impl Iterator<Item = (RevisionStage, &str, Option<&str>, &Erratum)> {
    let of_core = spec.revisions.iter().flat_map(|of| {
        let all = of.errata.iter();
        all.map(|erratum| (of.status, &*of.id, None, erratum))
    });
    let of_extensions = spec.extensions.iter().flat_map(|of| {
        let all = of.errata.iter();
        all.map(|erratum| (of.status(), &*of.state, Some(&*of.folder), erratum))
    });
    of_core.chain(of_extensions)
}

/// Returns the facts of `spec/` with this name: rules of the protocol, errata, changes of the pages.
fn facts(spec: &Spec, (stated, changes): (&ErrorRules, &ProseChanges), name: &str) -> Vec<String> {
    let mut facts = Vec::new();
    let text = |what: &str, lines: &[(&str, &str)]| {
        let mut text = format!("{name}: {what}\n\n");
        for (head, words) in lines {
            let _ = writeln!(text, "{head:<13}{words}");
        }
        text
    };
    let mut state = |what: &str, meaning: &str, revisions: &[String], page: &str| {
        let last = revisions.last().and_then(|last| spec.revision(last).ok());
        let page = last.map_or_else(
            || page.to_owned(),
            |last| last.status.placed(page, &last.id),
        );
        let listed = revisions.join(", ");
        let lines = [
            ("It says:", meaning),
            ("Binds in:", &listed),
            ("Page:", &page),
        ];
        facts.push(text(what, &lines));
    };
    for rule in stated.rules.iter().filter(|rule| rule.id == name) {
        let what = "rule of the protocol, which no schema states";
        state(what, &rule.meaning, &rule.revisions, &rule.page);
    }
    let code: Option<i64> = name.parse().ok();
    for error in &stated.errors {
        let what = match code {
            Some(code) if code == error.code => format!("error {}", error.name),
            None if error.name == name => format!("error {}", error.code),
            _ => continue,
        };
        state(&what, &error.meaning, &error.revisions, &error.page);
    }
    let is_named = |range: &&CodeRange| match code {
        Some(code) => (range.from..=range.to).contains(&code),
        None => range.name == name,
    };
    for range in stated.ranges.iter().filter(is_named) {
        let what = format!("error codes from {} to {}", range.from, range.to);
        state(&what, &range.meaning, &range.revisions, &range.page);
    }
    let is_header = |header: &&Header| header.name.eq_ignore_ascii_case(name);
    for header in stated.headers.iter().filter(is_header) {
        state(
            "HTTP header",
            &header.meaning,
            &header.revisions,
            &header.page,
        );
    }
    let last = errata(spec)
        .filter(|(.., erratum)| erratum.id == name)
        .last();
    if let Some((stage, id, extension, erratum)) = last {
        let what = match extension {
            Some(extension) => {
                format!("erratum, a correction of published schemas of the extension {extension}")
            }
            None => "erratum, a correction of published schemas".to_owned(),
        };
        let source = stage.placed(&erratum.source, id);
        let (revisions, at) = (erratum.revisions.join(", "), erratum.at.join(", "));
        let lines = [
            ("Mends:", &*at),
            ("In:", &revisions),
            ("Why:", &erratum.reason),
            ("Source:", &source),
        ];
        facts.push(text(&what, &lines));
    }
    for change in changes.all() {
        if change.id == name {
            let over = change.over.map_or("any transport", RefusingTransport::name);
            let lines = [
                ("It says:", &*change.says),
                ("Binds:", peers(change.binds)),
                ("Over:", over),
                ("Page:", &change.page),
            ];
            let what = format!("change of {} that no schema shows", change.between);
            facts.push(text(&what, &lines));
        }
    }
    facts
}

/// The rows of a rule file that can be asked for by their ids.
#[derive(Default, Deserialize)]
#[serde(default)]
struct AskedRules {
    rule: Vec<Value>,
    method: Vec<Value>,
    error: Vec<Value>,
}

/// Returns every conversion rule as its row in `spec/`, with the pair of revisions that it is for. Fails for a file of rules that
/// cannot be read.
pub fn rules(spec: &Spec) -> anyhow::Result<Vec<(String, Value)>> {
    let mut rules = Vec::new();
    let of_extensions = RevisionPair::of_extensions(&spec.extensions.iter().collect::<Vec<_>>());
    for (file, text) in spec.rules.iter() {
        if !RevisionPair::is_rule_file(file) {
            continue;
        }
        let own = of_extensions.iter().find(|pair| pair.file() == file);
        let pair = match own {
            Some(pair) => pair.to_string(),
            None => file
                .trim_start_matches("shims/")
                .trim_end_matches(".toml")
                .to_owned(),
        };
        let tables: AskedRules = text.parse().map_err(UnreadOption)?;
        let rows = [tables.rule, tables.method, tables.error].concat();
        rules.extend(rows.into_iter().map(|row| (pair.clone(), row)));
    }
    Ok(rules)
}

/// Returns a rule as text: where it applies, what it does in each direction, why, and an example.
pub fn of_rule(pair: &str, rule: &Value) -> String {
    let id = rule.get("id").map(plain).unwrap_or_default();
    let mut text = format!("{id}: conversion rule of {pair}\n\n");
    let lines = [
        ("at", "Applies to:"),
        ("name", "Applies to:"),
        ("code", "Applies to:"),
        ("method", "Of method:"),
        ("sender", "Sent by:"),
        ("action", "Both ways:"),
        ("up", "To newer:"),
        ("down", "To older:"),
        ("severity", "Loss:"),
        ("reason", "Why:"),
        ("source", "Source:"),
    ];
    for (member, head) in lines {
        if let Some(value) = rule.get(member).filter(|value| !value.is_null()) {
            let _ = writeln!(text, "{head:<13}{}", plain(value));
        }
    }
    let items = rule.get("alternatives").and_then(Value::as_array);
    for (at, item) in items.into_iter().flatten().enumerate() {
        let head = if at == 0 { "Items:" } else { "" };
        let _ = writeln!(text, "{head:<13}{}", alternative(item));
    }
    let example = rule.get("example").and_then(|examples| examples.get(0));
    if let Some(example) = example {
        let of = |member| example.get(member).map(plain).unwrap_or_default();
        let _ = writeln!(text, "{:<13}{}", "For example:", of("input"));
        let _ = writeln!(text, "{:<13}{}", "  becomes:", of("output"));
    }
    text
}

/// Returns an item of a list of typed alternatives as words: the member that it stands for, and the value of that without it.
fn alternative(item: &Value) -> String {
    let of = |member| item.get(member).map(plain);
    let ty = of("type").unwrap_or_default();
    let (Some(value), Some(member)) = (of("value"), of("member")) else {
        return format!("{ty}, which stands in every list");
    };
    let absent = item.get("absent").map_or_else(String::new, |value| {
        format!("; without the item, that is {value}")
    });
    format!("{ty}, whose `{value}` is the member `{member}`{absent}")
}

/// Returns a value of a row as words: a text as it is, a list with commas, an action as its name and its argument.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join(", "),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| format!("{name} {}", plain(value)))
            .collect::<Vec<_>>()
            .join(", "),
        value => value.to_string(),
    }
}
