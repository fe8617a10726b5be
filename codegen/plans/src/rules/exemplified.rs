//! The examples that a row carries: which of them can be tried, and what is wrong with the others.

use mcp_revisions_schema::sorted::SortedSet;

use serde::Serialize;
use serde_json::Value;

use super::example::{Example, ExampleEnding, Sample, SampleSubject, SessionFacts};
use super::rows::{ErrorRule, MethodRule, PairRule, RuleTables, placed};
use mcp_revisions_schema::OneOrMany;
use mcp_revisions_schema::pair::StepDirection;

fn json(what: &str, text: &str) -> Result<(), String> {
    serde_json::from_str::<Value>(text)
        .map(drop)
        .map_err(|error| format!("its `{what}` is not JSON: {error}"))
}

fn ending(output: &str) -> Result<ExampleEnding<'_>, String> {
    if let Some(adapter) = output.strip_prefix("needs ") {
        return adapter.parse().map(ExampleEnding::Needs);
    }
    if let Some(code) = output.strip_prefix("rejected ") {
        return code
            .parse()
            .map(ExampleEnding::Rejected)
            .map_err(|_| format!("`{output}` names no code: it is written as `rejected -32602`"));
    }
    if output == "dropped" {
        return Ok(ExampleEnding::Dropped);
    }
    json("output", output).map_err(|error| {
        format!("{error}; if the conversion returns no value, write `needs ADAPTER`, `rejected CODE` or `dropped`")
    })?;
    Ok(ExampleEnding::Value(output))
}

/// The common part of every row with an id.
pub(crate) struct ExemplifiedRow<'r> {
    pub(super) offset: usize,
    pub(crate) id: &'r str,
    /// The subject, in words.
    pub(crate) at: String,
    /// The action in each direction that the row has.
    pub(crate) says: Vec<(StepDirection, Value)>,
    pub(crate) reason: &'r str,
    pub(super) source: &'r str,
    /// The row itself, where it is a `[[rule]]`.
    pub(crate) rule: Option<&'r PairRule>,
    /// The row itself, where it is a `[[method]]`.
    pub(super) method: Option<&'r MethodRule>,
    examples: &'r [Example],
}

impl RuleTables {
    /// All rows with an id, in the order of the file within their kind.
    pub(crate) fn exemplified(&self) -> impl Iterator<Item = ExemplifiedRow<'_>> {
        macro_rules! told {
            ($rows:expr, $says:ident, |$row:ident| $at:expr, $rule:expr, $method:expr) => {
                placed($rows).map(|(offset, $row)| ExemplifiedRow {
                    offset,
                    id: &$row.id,
                    at: $at,
                    rule: $rule,
                    method: $method,
                    says: says(|way| $row.$says(way)),
                    reason: &$row.reason,
                    source: &$row.source,
                    examples: &$row.example,
                })
            };
        }
        fn list(names: &OneOrMany<String>) -> String {
            names.all().join(", ")
        }
        fn code(row: &ErrorRule) -> String {
            match &row.method {
                Some(methods) => format!("error {} of {}", row.code, list(methods)),
                None => format!("error {}", row.code),
            }
        }
        let rules = told!(&self.rule, action, |row| list(&row.at), Some(row), None);
        let methods = told!(&self.method, action, |row| list(&row.name), None, Some(row));
        let errors = told!(&self.error, fate, |row| code(row), None, None);
        rules.chain(methods).chain(errors)
    }
}

/// Lists the ways that have text, each as rule files write it.
fn says<'r, A: Serialize + 'r>(
    of: impl Fn(StepDirection) -> Option<&'r A>,
) -> Vec<(StepDirection, Value)> {
    let said = |way| Some((way, serde_json::to_value(of(way)?).unwrap_or_default()));
    StepDirection::BOTH.into_iter().filter_map(said).collect()
}

impl<'r> ExemplifiedRow<'r> {
    /// Returns an example of it that can be tried.
    fn read(&self, example: &'r Example) -> Result<Sample<'r>, String> {
        let of = [
            example.r#type.as_deref().map(SampleSubject::Type),
            example.params.as_deref().map(SampleSubject::Params),
            example.result.as_deref().map(SampleSubject::Result),
            example.error.as_deref().map(SampleSubject::Error),
        ];
        let mut subjects = of.into_iter().flatten();
        let (Some(of), None) = (subjects.next(), subjects.next()) else {
            return Err("it is of one thing: a `type`, or the method whose `params`, `result` or `error` it shows".to_owned());
        };
        let way = match (example.way, &self.says[..]) {
            (Some(way), says) if says.iter().any(|(other, _)| *other == way) => way,
            (Some(way), _) => return Err(format!("the rule says nothing of the way {way}")),
            (None, [(way, _)]) => *way,
            (None, _) => return Err("it says no `way`: up or down".to_owned()),
        };
        json("input", &example.input)?;
        let SessionFacts {
            client_capabilities,
            client_info,
            subscription_id,
        } = &example.session;
        let facts = [client_capabilities, client_info, subscription_id];
        for fact in facts.into_iter().flatten() {
            json("session", fact)?;
        }
        Ok(Sample {
            rule: self.id,
            of,
            way,
            sender: (self.method.and_then(|row| row.sender)).or(example.sender),
            session: &example.session,
            input: &example.input,
            ending: ending(&example.output)?,
            loses: &example.loses,
        })
    }

    /// Returns the faults of its examples, and each direction that has none.
    pub(super) fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut shown = SortedSet::new();
        for (at, example) in self.examples.iter().enumerate() {
            match self.read(example) {
                Ok(sample) => drop(shown.insert(sample.way)),
                Err(problem) => faults.push(format!("example {}: {problem}", at + 1)),
            }
        }
        if !faults.is_empty() {
            return faults;
        }
        // An action is of the way on which the method is missing in the target: its example says which.
        if self.method.is_some_and(|row| row.action.is_some()) {
            let bare = shown.is_empty();
            faults.extend(bare.then(|| "it carries no `example`".to_owned()));
        } else {
            let bare = self.says.iter().filter(|(way, _)| !shown.contains(way));
            faults.extend(bare.map(|(way, _)| format!("it carries no `example` of the way {way}")));
        }
        faults
    }

    /// Its examples that can be tried.
    pub(crate) fn samples(self) -> impl Iterator<Item = Sample<'r>> {
        (self.examples.iter()).filter_map(move |one| self.read(one).ok())
    }
}
