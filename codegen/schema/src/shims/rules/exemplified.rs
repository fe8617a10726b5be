//! The examples that a row carries: which of them can be tried, and what is wrong with the others.

use crate::sorted::SortedSet;

use serde_json::Value;

use super::example::{Ending, Example, Facts, Of, Sample};
use super::rows::{Rows, placed};
use crate::shims::pair::{Sender, Way};

impl Example {
    /// The example of a rule that speaks of these ways.
    fn read<'r>(
        &'r self,
        rule: &'r str,
        ways: &[Way],
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
            (Some(way), ways) if ways.contains(&way) => way,
            (Some(way), _) => return Err(format!("the rule says nothing of the way {way}")),
            (None, [way]) => *way,
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

/// What every row with an id says of itself.
pub(super) struct Told<'r> {
    pub(super) offset: usize,
    pub(super) id: &'r str,
    pub(super) reason: &'r str,
    pub(super) source: &'r str,
    /// The ways that it speaks of.
    ways: Vec<Way>,
    /// Whether it speaks of the one on which the method is missing in the target: its example says which.
    either: bool,
    sender: Option<Sender>,
    examples: &'r [Example],
}

impl Rows {
    /// All rows with an id, in the order of the file within their kind.
    pub(super) fn told(&self) -> impl Iterator<Item = Told<'_>> {
        macro_rules! told {
            ($rows:expr, $row:ident, $says:ident, $either:expr, $sender:expr) => {
                placed($rows).map(|(offset, $row)| Told {
                    offset,
                    id: &$row.id,
                    reason: &$row.reason,
                    source: &$row.source,
                    ways: (Way::BOTH.into_iter())
                        .filter(|way| $row.$says(*way).is_some())
                        .collect(),
                    either: $either,
                    sender: $sender,
                    examples: &$row.example,
                })
            };
        }
        let methods = told!(&self.method, row, action, row.action.is_some(), row.sender);
        told!(&self.rule, row, action, false, None)
            .chain(methods)
            .chain(told!(&self.error, row, fate, false, None))
    }
}

impl<'r> Told<'r> {
    /// What is wrong with its examples, and each way that has none.
    pub(super) fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut shown = SortedSet::new();
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
        if self.either {
            let bare = shown.is_empty();
            faults.extend(bare.then(|| "it carries no `example`".to_owned()));
        } else {
            let bare = self.ways.iter().filter(|way| !shown.contains(way));
            faults.extend(bare.map(|way| format!("it carries no `example` of the way {way}")));
        }
        faults
    }

    /// Its examples that can be tried.
    pub(super) fn samples(self) -> impl Iterator<Item = Sample<'r>> {
        let read = move |one: &'r Example| one.read(self.id, &self.ways, self.sender).ok();
        self.examples.iter().filter_map(read)
    }
}
