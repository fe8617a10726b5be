//! `methods.toml`: which result answers which request where the schema does not say, and the area that a method belongs to.

mod results;

use crate::sorted::{SortedMap, SortedSet};

use mcp_wire::{Direction, MethodKind};
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::range::Faults;
pub use super::roles::{messages, methods, takes};
use super::{ExtensionSpec, Spec};
use crate::Error;
use crate::naming::snake_case;
pub use results::{RequestResult, ResultRule, answer};

/// The rules, checked against the revisions.
#[derive(Clone, Debug, Default)]
pub struct MethodRules {
    results: Vec<ResultRule>,
    areas: SortedMap<String, String>,
    /// The definition of the result that asks for input first.
    pub(crate) input_required: Option<String>,
    /// The member of the params of each method that says what the request is about.
    pub(crate) named_by: SortedMap<String, String>,
    /// The capability that the receiver of each method has to have declared.
    pub(crate) capabilities: SortedMap<String, String>,
    /// The parts of that capability which some params need besides.
    pub(crate) capability_parts: SortedMap<String, Vec<CapabilityPartRow>>,
    /// The sender and the kind of a message, where a row beside the schema says them: for those of an extension.
    pub(crate) senders: SortedMap<String, (Direction, MethodKind)>,
}

/// The facts of methods, by name.
type ByMethod = SortedMap<Spanned<String>, String>;

/// A part of a capability, and the params that need it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CapabilityPartRow {
    /// The name of the part.
    pub name: String,
    /// The member of the params that asks for it.
    pub member: String,
    /// The value of that member which does; `None` for any.
    pub value: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct MethodTables {
    input_required: Option<Spanned<String>>,
    #[serde(default)]
    result: Vec<MethodTableRow>,
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
struct MethodTableRow {
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

    /// Reads the rules of a spec. Fails for each rule that matches nothing, contradicts the schema or repeats it.
    pub fn read(spec: &Spec) -> Result<Self, Error> {
        Self::read_all(spec).map(|(rules, _)| rules)
    }

    /// Returns the same, with what begins before a draft and does not hold for it, which is passed over there.
    pub fn read_all(spec: &Spec) -> Result<(Self, Vec<Error>), Error> {
        let file = spec.rules.get(Self::FILE);
        let rows: MethodTables = file.parse()?;
        let order = &spec.rules.order;
        let mut faults = Faults::new(&file, spec);
        let mut rules = Self::default();
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
                let mut right = SortedMap::new();
                for (name, value) in rows {
                    let (offset, method) = (name.span().start, name.into_inner());
                    let problem = if known.contains(&method) {
                        wrong(&method, &value)
                    } else {
                        Some("no revision has that method".to_owned())
                    };
                    if let Some(problem) = problem {
                        faults.fail(offset, &format!("{what} of `{method}`"), problem);
                    } else {
                        right.insert(method, value);
                    }
                }
                right
            };
        rules.areas = by_method("area", rows.areas, misplaced);
        rules.named_by = by_method("named-by", rows.named_by, |_, _| None);
        rules.capabilities = by_method("capabilities", rows.capabilities, |_, _| None);
        for row in rows.capability_part {
            let method = row.method.get_ref();
            let mut revisions = spec.revisions.iter();
            let problem = if !rules.capabilities.contains_key(method) {
                Some("[capabilities] names no capability of that method")
            } else if revisions.any(|it| takes(it, method, &row.member)) {
                None
            } else {
                Some("no revision has such a member in the params of that method")
            };
            if let Some(problem) = problem {
                let label = format!("capability-part of `{method}`");
                faults.fail(row.method.span().start, &label, problem);
            }
            let parts = rules.capability_parts.entry(row.method.into_inner());
            parts.or_default().push(CapabilityPartRow {
                name: row.part,
                member: row.member,
                value: row.value,
            });
        }
        Ok((rules, faults.done()?))
    }

    /// Returns the rules with what an extension says of its own messages.
    pub fn with(&self, extension: &ExtensionSpec) -> Self {
        let mut rules = self.clone();
        for method in &extension.methods {
            let name = &method.name;
            if let Some(sender) = method.sender {
                rules.senders.insert(name.clone(), (sender, method.kind()));
            }
            if let Some(area) = &method.area {
                rules.areas.insert(name.clone(), area.clone());
            }
            if let Some(member) = &method.named_by {
                rules.named_by.insert(name.clone(), member.clone());
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
    pub fn result(&self, revision: &str, method: &str) -> Option<&ResultRule> {
        let mut rules = self.results.iter();
        rules.find(|rule| rule.method == method && rule.covers(revision))
    }

    /// Returns the rule for a request of a schema that is not a revision: the last of those whose results it defines.
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
    pub fn area<'a>(&'a self, method: &'a str) -> &'a str {
        let area = self.areas.get(method);
        area.map_or_else(|| default_area(method), String::as_str)
    }
}

/// The form of an area's name.
const AREA: &str = "the name of a module: lower-case letters, digits and `_`, no reserved word, none of lib, main, methods, mod, services and wire";

/// Returns the first segment of a method, after `notifications/`.
fn default_area(method: &str) -> &str {
    let name = method.strip_prefix("notifications/").unwrap_or(method);
    name.split('/').next().unwrap_or(name)
}

/// Returns the fault of a row that gives a method an area.
fn misplaced(method: &str, area: &str) -> Option<String> {
    if default_area(method) == area {
        return Some("it is in that area by default".to_owned());
    }
    (!is_area(area)).then(|| format!("the area is not a file name: expected {AREA}"))
}

/// Returns the file of an area: its own, or the nearest name that a file can have, or that of messages as a whole.
pub(crate) fn module(area: &str) -> String {
    let near = snake_case(&area.to_ascii_lowercase());
    match [area, near.as_str()].into_iter().find(|name| is_area(name)) {
        Some(name) => name.to_owned(),
        None => "messages".to_owned(),
    }
}

/// Maximum length of the name of an area, in bytes.
const MAX_AREA: usize = 64;

/// Returns whether an area can be a file and a module of a generated crate, beside those that every crate has.
pub(crate) fn is_area(area: &str) -> bool {
    let own = ["lib", "main", "methods", "mod", "services", "wire"];
    // Windows has no files of these names, and no system has one of any length.
    let devices = ["aux", "con", "nul", "prn"];
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    area.bytes().all(plain)
        && area.starts_with(|first: char| first.is_ascii_lowercase())
        && area.len() <= MAX_AREA
        && !own.contains(&area)
        && !devices.contains(&area)
        && !(area.len() == 4 && (area.starts_with("com") || area.starts_with("lpt")))
        && snake_case(area) == area
}
