//! What a rule comes to, on one value: a text of the one revision and what stands for it in the other.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::rows::{Adapter, ErrorRule, MethodRule, Rule, Sender};
use crate::shims::pair::Way;

/// An example as it is written; reading it says whether it is one.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// The definition that both texts are of.
    #[serde(default)]
    r#type: Option<String>,
    /// The method whose params they are.
    #[serde(default)]
    params: Option<String>,
    /// The method whose result they are.
    #[serde(default)]
    result: Option<String>,
    /// The method that they answer as an error.
    #[serde(default)]
    error: Option<String>,
    /// The way that it goes; the rule's own, where it speaks of one.
    #[serde(default)]
    way: Option<Way>,
    /// Who sends the method, where both may and the rule speaks of neither.
    #[serde(default)]
    sender: Option<Sender>,
    /// What the session knows.
    #[serde(default)]
    session: Facts,
    /// JSON of the source.
    input: String,
    /// JSON of the target, or how the conversion ends: `needs handshake`, `rejected -32602`, `swallowed`.
    output: String,
    /// Where the rule records that something is lost, added or replaced.
    #[serde(default)]
    loses: Vec<String>,
}

/// What a session knows, each as JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Facts {
    /// What the client can do.
    pub client_capabilities: Option<String>,
    /// Which client it is.
    pub client_info: Option<String>,
    /// For which stream a notification is.
    pub subscription_id: Option<String>,
}

/// An example that can be tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample<'r> {
    /// The rule.
    pub rule: &'r str,
    /// What the texts are.
    pub of: Of<'r>,
    /// Which way it goes.
    pub way: Way,
    /// Who sends the method, where that is said.
    pub sender: Option<Sender>,
    /// What the session knows.
    pub session: &'r Facts,
    /// JSON of the source.
    pub input: &'r str,
    /// What becomes of it.
    pub ending: Ending<'r>,
    /// Where the rule records something.
    pub loses: &'r [String],
}

/// What a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of<'r> {
    /// A value of a definition.
    Type(&'r str),
    /// The params of a method.
    Params(&'r str),
    /// The result of a method.
    Result(&'r str),
    /// The error that answers a method.
    Error(&'r str),
}

impl std::fmt::Display for Of<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Type(name) => f.write_str(name),
            Self::Params(method) => write!(f, "params of {method}"),
            Self::Result(method) => write!(f, "result of {method}"),
            Self::Error(method) => write!(f, "error of {method}"),
        }
    }
}

/// How a conversion ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending<'r> {
    /// With this text.
    Value(&'r str),
    /// An adapter has to do it.
    Needs(Adapter),
    /// With an error of this code.
    Rejected(i64),
    /// The notification ends there.
    Swallowed,
}

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
        return Adapter::try_from(adapter.to_owned()).map(Ending::Needs);
    }
    if let Some(code) = output.strip_prefix("rejected ") {
        let code = code.parse();
        return code
            .map(Ending::Rejected)
            .map_err(|_| format!("`{output}` names no code: it is written as `rejected -32602`"));
    }
    if output == "swallowed" {
        return Ok(Ending::Swallowed);
    }
    json("output", output).map_err(|error| {
        format!("{error}; what is no value is `needs ADAPTER`, `rejected CODE` or `swallowed`")
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

    fn speaks_of(&self, way: Way) -> bool {
        match self {
            Self::Each(ways) => ways.contains(&way),
            Self::Either => true,
        }
    }
}

/// A row that carries examples.
pub(super) struct Exemplified<'r> {
    rule: &'r str,
    ways: Spoken,
    sender: Option<Sender>,
    examples: &'r [Example],
}

impl Exemplified<'_> {
    /// What is wrong with its examples, and each way that has none.
    pub(super) fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut shown = BTreeSet::new();
        for (at, example) in self.examples.iter().enumerate() {
            match example.read(self.rule, &self.ways, self.sender) {
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
}

impl<'r> Exemplified<'r> {
    /// Its examples that can be tried.
    pub(super) fn samples(self) -> impl Iterator<Item = Sample<'r>> {
        let read = move |one: &'r Example| one.read(self.rule, &self.ways, self.sender).ok();
        self.examples.iter().filter_map(read)
    }
}

impl<'r> From<&'r Rule> for Exemplified<'r> {
    fn from(rule: &'r Rule) -> Self {
        Self {
            rule: &rule.id,
            ways: Spoken::of(|way| rule.action(way).is_some()),
            sender: None,
            examples: &rule.example,
        }
    }
}

impl<'r> From<&'r MethodRule> for Exemplified<'r> {
    fn from(rule: &'r MethodRule) -> Self {
        Self {
            rule: &rule.id,
            ways: match rule.action {
                Some(_) => Spoken::Either,
                None => Spoken::of(|way| rule.action(way).is_some()),
            },
            sender: rule.direction,
            examples: &rule.example,
        }
    }
}

impl<'r> From<&'r ErrorRule> for Exemplified<'r> {
    fn from(rule: &'r ErrorRule) -> Self {
        Self {
            rule: &rule.id,
            ways: Spoken::of(|way| way.of(&rule.up, &rule.down).is_some()),
            sender: None,
            examples: &rule.example,
        }
    }
}
