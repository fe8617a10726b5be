//! The examples that a row carries: which of them can be tried, and what is wrong with the others.

use std::collections::BTreeSet;

use serde_json::Value;

use super::example::{Ending, Example, Facts, Of, Sample};
use super::rows::{MethodRule, Rows, placed};
use crate::shims::pair::{Sender, Way};

impl Example {
    /// The example of a rule that speaks of these ways.
    fn read<'r>(
        &'r self,
        rule: &'r str,
        ways: &Spoken,
        sender: Option<Sender>,
    ) -> Result<Sample<'r>, String> {
        let of = [
            self.r#type.as_deref().map(Of::Type),
            self.params.as_deref().map(Of::Params),
            self.result.as_deref().map(Of::Result),
            self.error.as_deref().map(Of::Error),
        ];
        let mut of = of.into_iter().flatten();
        let (Some(of), None) = (of.next(), of.next()) else {
            return Err("it is of one thing: a `type`, or the method whose `params`, `result` or `error` it shows".to_owned());
        };
        let way = match (self.way, ways) {
            (Some(way), _) if ways.speaks_of(way) => way,
            (Some(way), _) => return Err(format!("the rule says nothing of the way {way}")),
            (None, Spoken::Each(ways)) if ways.len() == 1 => {
                ways.first().copied().unwrap_or(Way::Up)
            }
            (None, _) => return Err("it says no `way`: up or down".to_owned()),
        };
        json("input", &self.input)?;
        for fact in self.session.all() {
            json("session", fact)?;
        }
        Ok(Sample {
            rule,
            of,
            way,
            sender: sender.or(self.sender),
            session: &self.session,
            input: &self.input,
            ending: ending(&self.output)?,
            loses: &self.loses,
        })
    }
}

impl Facts {
    fn all(&self) -> impl Iterator<Item = &String> {
        [
            &self.client_capabilities,
            &self.client_info,
            &self.subscription_id,
        ]
        .into_iter()
        .flatten()
    }
}

fn json(what: &str, text: &str) -> Result<(), String> {
    serde_json::from_str::<Value>(text)
        .map(drop)
        .map_err(|error| format!("its `{what}` is not JSON: {error}"))
}

fn ending(output: &str) -> Result<Ending<'_>, String> {
    if let Some(adapter) = output.strip_prefix("needs ") {
        return adapter.parse().map(Ending::Needs);
    }
    if let Some(code) = output.strip_prefix("rejected ") {
        let code = code.parse();
        return code
            .map(Ending::Rejected)
            .map_err(|_| format!("`{output}` names no code: it is written as `rejected -32602`"));
    }
    if output == "dropped" {
        return Ok(Ending::Dropped);
    }
    json("output", output).map_err(|error| {
        format!("{error}; if the conversion returns no value, write `needs ADAPTER`, `rejected CODE` or `dropped`")
    })?;
    Ok(Ending::Value(output))
}

/// The ways that a rule speaks of.
enum Spoken {
    /// Each of these, and each has an example.
    Each(BTreeSet<Way>),
    /// The one on which the method is missing in the target: the example says which.
    Either,
}

impl Spoken {
    fn of(says: impl Fn(Way) -> bool) -> Self {
        Self::Each(Way::BOTH.into_iter().filter(|way| says(*way)).collect())
    }

    fn of_method(rule: &MethodRule) -> Self {
        match rule.action {
            Some(_) => Self::Either,
            None => Self::of(|way| rule.action(way).is_some()),
        }
    }

    fn speaks_of(&self, way: Way) -> bool {
        match self {
            Self::Each(ways) => ways.contains(&way),
            Self::Either => true,
        }
    }
}

/// What every row with an id says of itself.
pub(super) struct Told<'r> {
    pub(super) offset: usize,
    pub(super) id: &'r str,
    pub(super) reason: &'r str,
    pub(super) source: &'r str,
    ways: Spoken,
    sender: Option<Sender>,
    examples: &'r [Example],
}

impl Rows {
    /// All rows with an id, in the order of the file within their kind.
    pub(super) fn told(&self) -> impl Iterator<Item = Told<'_>> {
        macro_rules! told {
            ($rows:expr, $row:ident, $ways:expr, $sender:expr) => {
                placed($rows).map(|(offset, $row)| Told {
                    offset,
                    id: &$row.id,
                    reason: &$row.reason,
                    source: &$row.source,
                    ways: $ways,
                    sender: $sender,
                    examples: &$row.example,
                })
            };
        }
        let (rules, methods, errors) = (&self.rule, &self.method, &self.error);
        told!(
            rules,
            row,
            Spoken::of(|way| row.action(way).is_some()),
            None
        )
        .chain(told!(methods, row, Spoken::of_method(row), row.direction))
        .chain(told!(
            errors,
            row,
            Spoken::of(|way| row.fate(way).is_some()),
            None
        ))
    }
}

impl<'r> Told<'r> {
    /// What is wrong with its examples, and each way that has none.
    pub(super) fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut shown = BTreeSet::new();
        for (at, example) in self.examples.iter().enumerate() {
            match example.read(self.id, &self.ways, self.sender) {
                Ok(sample) => {
                    shown.insert(sample.way);
                }
                Err(problem) => faults.push(format!("example {}: {problem}", at + 1)),
            }
        }
        if !faults.is_empty() {
            return faults;
        }
        match &self.ways {
            Spoken::Either if shown.is_empty() => faults.push("it carries no `example`".to_owned()),
            Spoken::Either => {}
            Spoken::Each(ways) => {
                let bare = ways.iter().filter(|way| !shown.contains(way));
                faults.extend(bare.map(|way| format!("it carries no `example` of the way {way}")));
            }
        }
        faults
    }

    /// Its examples that can be tried.
    pub(super) fn samples(self) -> impl Iterator<Item = Sample<'r>> {
        let read = move |one: &'r Example| one.read(self.id, &self.ways, self.sender).ok();
        self.examples.iter().filter_map(read)
    }
}
