//! `methods.toml`: which result answers which request where the schema does not say, and the area that a method belongs to.

mod areas;
mod requests;
mod results;

use crate::sorted::{SortedMap, SortedSet};

use mcp_wire::Direction;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::range::{Faults, Order};
use super::{Extension, Spec};
use crate::Error;
use areas::default_area;
pub(crate) use areas::{is_area, module};
use requests::takes;
pub(crate) use requests::{messages, methods};
pub use results::ResultRule;
pub(crate) use results::{Answer, answer};

/// The rules, checked against the revisions.
#[derive(Clone, Debug, Default)]
pub struct MethodRules {
    results: Vec<ResultRule>,
    pub(crate) order: Order,
    areas: SortedMap<String, String>,
    /// The definition of the result that asks for input first.
    pub(crate) input_required: Option<String>,
    /// The member of the params of each method that says what the request is about.
    pub(crate) named_by: SortedMap<String, String>,
    /// The capability that the receiver of each method has to have declared.
    pub(crate) capabilities: SortedMap<String, String>,
    /// The parts of that capability which some params need besides.
    pub(crate) capability_parts: SortedMap<String, Vec<CapabilityPart>>,
    /// Who sends a message, where that is said beside the schema: for those of an extension.
    pub(crate) senders: SortedMap<String, Direction>,
}

/// The facts of methods, by name.
type ByMethod = SortedMap<Spanned<String>, String>;

/// A part of a capability, and the params that need it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CapabilityPart {
    /// The name of the part.
    pub name: String,
    /// The member of the params that asks for it.
    pub member: String,
    /// The value of that member which does; `None` for any.
    pub value: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Rows {
    input_required: Option<Spanned<String>>,
    #[serde(default)]
    result: Vec<Row>,
    #[serde(default)]
    named_by: ByMethod,
    #[serde(default)]
    capabilities: ByMethod,
    #[serde(default)]
    capability_part: Vec<PartRow>,
    #[serde(default)]
    areas: ByMethod,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Row {
    method: Spanned<String>,
    result: String,
    task_result: Option<String>,
    since: Option<String>,
    until: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct PartRow {
    method: Spanned<String>,
    part: String,
    member: String,
    value: Option<String>,
}

impl MethodRules {
    /// The name of the file below the spec directory.
    pub const FILE: &str = "methods.toml";

    /// Reads the rules of a spec.
    ///
    /// # Errors
    /// Each rule that matches nothing, contradicts the schema or repeats it.
    pub fn read(spec: &Spec) -> Result<Self, Error> {
        Self::read_all(spec).map(|(rules, _)| rules)
    }

    /// The same, with what begins before a draft and does not hold for it, which is passed over there.
    pub(super) fn read_all(spec: &Spec) -> Result<(Self, Vec<Error>), Error> {
        let file = spec.rules.get(Self::FILE);
        let rows: Rows = file.parse()?;
        let order = &spec.rules.order;
        let mut faults = Faults::new(&file, spec);
        let mut rules = Self {
            order: order.clone(),
            ..Self::default()
        };
        for row in rows.result {
            let offset = row.method.span().start;
            let label = format!("result of `{}`", row.method.get_ref());
            let range = match (&row.since, &row.until) {
                (Some(since), until) => order.range(since, until.as_deref()).map(Some),
                (None, Some(_)) => {
                    Err("`until` is the end of a range that begins with `since`".to_owned())
                }
                (None, None) => Ok(None),
            };
            let revisions = match range {
                Ok(revisions) => revisions,
                Err(problem) => {
                    faults.fail(offset, &label, problem);
                    continue;
                }
            };
            let mut rule = ResultRule {
                method: row.method.into_inner(),
                result: row.result,
                task_result: row.task_result,
                revisions,
            };
            for (revision, says) in rule.problems(spec, &rules.results) {
                let Some(id) = revision else {
                    faults.fail(offset, &label, says);
                    continue;
                };
                let mut none = Vec::new();
                let revisions = rule.revisions.as_mut().unwrap_or(&mut none);
                faults.contradicted(revisions, &id, (offset, &label), says);
            }
            rules.results.push(rule);
        }
        if let Some(name) = rows.input_required {
            let mut revisions = spec.revisions.iter();
            if !revisions.any(|revision| revision.definition(name.get_ref()).is_some()) {
                let problem = "no revision has that definition";
                faults.fail(name.span().start, "input-required", problem);
            }
            rules.input_required = Some(name.into_inner());
        }
        let known: SortedSet<String> = spec.revisions.iter().flat_map(methods).collect();
        let mut by_method =
            |what: &str, rows: ByMethod, wrong: fn(&str, &str) -> Option<String>| {
                let is_right = |(name, value): &(Spanned<String>, String)| {
                    let method = name.get_ref();
                    let problem = match known.contains(method) {
                        true => wrong(method, value),
                        false => Some("no revision has that method".to_owned()),
                    };
                    if let Some(problem) = &problem {
                        let label = format!("{what} of `{method}`");
                        faults.fail(name.span().start, &label, problem.as_str());
                    }
                    problem.is_none()
                };
                let rows = rows.into_iter().filter(is_right);
                rows.map(|(method, value)| (method.into_inner(), value))
                    .collect()
            };
        rules.areas = by_method("area", rows.areas, areas::fault);
        rules.named_by = by_method("named-by", rows.named_by, |_, _| None);
        rules.capabilities = by_method("capabilities", rows.capabilities, |_, _| None);
        for row in rows.capability_part {
            let method = row.method.get_ref();
            let mut revisions = spec.revisions.iter();
            let problem = match rules.capabilities.contains_key(method) {
                false => Some("[capabilities] names no capability of that method"),
                true if revisions.any(|it| takes(it, method, &row.member)) => None,
                true => Some("no revision has such a member in the params of that method"),
            };
            if let Some(problem) = problem {
                let label = format!("capability-part of `{method}`");
                faults.fail(row.method.span().start, &label, problem);
            }
            let parts = rules.capability_parts.entry(row.method.into_inner());
            parts.or_default().push(CapabilityPart {
                name: row.part,
                member: row.member,
                value: row.value,
            });
        }
        Ok((rules, faults.done()?))
    }

    /// Returns the rules with what an extension says of its own messages.
    #[must_use]
    pub fn with(&self, extension: &Extension) -> Self {
        let mut rules = self.clone();
        for method in &extension.methods {
            let name = &method.name;
            if let Some(sender) = method.sender {
                rules.senders.insert(name.clone(), sender);
            }
            rules.results.retain(|rule| rule.method != *name);
            let own = method.result.iter().map(|result| ResultRule {
                method: name.clone(),
                result: result.clone(),
                task_result: None,
                revisions: None,
            });
            rules.results.extend(own);
        }
        rules
    }

    /// Returns the rule for a request of a revision.
    #[must_use]
    pub fn result(&self, revision: &str, method: &str) -> Option<&ResultRule> {
        let mut rules = self.results.iter();
        rules.find(|rule| rule.method == method && rule.covers(revision))
    }

    /// Returns the rule for a request of a schema that is not a revision: the last of those whose results it defines.
    #[must_use]
    pub fn result_among(
        &self,
        method: &str,
        defined: impl Fn(&str) -> bool,
    ) -> Option<&ResultRule> {
        let fits = |rule: &&ResultRule| {
            rule.method == method && rule.results().all(|result| defined(result))
        };
        self.results.iter().rev().find(fits)
    }

    /// Returns the area of a method: the source file that its types live in.
    #[must_use]
    pub fn area<'a>(&'a self, method: &'a str) -> &'a str {
        self.areas
            .get(method)
            .map_or_else(|| default_area(method), String::as_str)
    }
}
