//! `methods.toml`: which result answers which request where the schema does not say, and the area that a method belongs to.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toml::Spanned;

use super::roles;
use super::rules::RuleFile;
use super::{Revision, Spec};
use crate::Error;
use crate::naming::snake_case;

/// What an area has to be.
pub(crate) const AREA: &str = "the name of a module: lower-case letters, digits and `_`, no reserved word, none of lib, main, methods, mod, services and wire";

/// The rules, checked against the revisions.
#[derive(Clone, Debug, Default)]
pub struct MethodRules {
    results: Vec<Rule>,
    areas: BTreeMap<String, String>,
    input_required: Option<String>,
    named_by: BTreeMap<String, String>,
    capabilities: BTreeMap<String, String>,
    capability_parts: BTreeMap<String, Vec<CapabilityPart>>,
}

/// A part of a capability, and the params that need it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CapabilityPart {
    /// The name of the part.
    pub name: String,
    /// The member of the params that asks for it.
    pub member: String,
    /// The value of that member which does; none for any.
    pub value: Option<String>,
}

/// What a method is to endpoints, where the schema does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MethodFacts<'r> {
    /// The member of the params that says what the request is about.
    pub named_by: Option<&'r str>,
    /// The capability that the receiver has to have declared.
    pub capability: Option<&'r str>,
    /// The parts of that capability which some params need besides.
    pub capability_parts: &'r [CapabilityPart],
}

/// One `[[result]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    method: String,
    result: String,
    task_result: Option<String>,
    revisions: Option<Vec<String>>,
}

/// What a rule says answers a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultRule<'r> {
    /// The result definition.
    pub result: &'r str,
    /// The result instead of it when the request's params carry `task`.
    pub task_result: Option<&'r str>,
}

/// What answers a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The result definitions, in the order of the schema; more than one where the protocol allows several.
    pub results: Vec<String>,
    /// The result instead of those when the request's params carry `task`.
    pub task_result: Option<String>,
    /// The definition of the whole response, where the schema has one.
    pub response: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Rows {
    input_required: Option<Spanned<String>>,
    #[serde(default)]
    result: Vec<Row>,
    #[serde(default)]
    named_by: BTreeMap<Spanned<String>, String>,
    #[serde(default)]
    capabilities: BTreeMap<Spanned<String>, String>,
    #[serde(default)]
    capability_part: Vec<PartRow>,
    #[serde(default)]
    areas: BTreeMap<Spanned<String>, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Row {
    method: Spanned<String>,
    result: String,
    task_result: Option<String>,
    revisions: Option<Vec<String>>,
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

    /// Read the rules of a spec.
    ///
    /// # Errors
    /// [`Error::Rule`] for each rule that matches nothing, contradicts the schema or says what goes without saying.
    pub fn read(spec: &Spec) -> Result<Self, Error> {
        let file = spec.rules.get(Self::FILE);
        let Rows {
            input_required,
            result,
            named_by,
            capabilities,
            capability_part,
            areas,
        } = file.parse()?;
        let mut errors = Vec::new();
        let mut rules = Self::default();
        for row in result {
            let Row {
                method,
                result,
                task_result,
                revisions,
            } = row;
            let offset = method.span().start;
            let rule = Rule {
                method: method.into_inner(),
                result,
                task_result,
                revisions,
            };
            for problem in rule.problems(spec, &rules.results) {
                let label = format!("result of `{}`", rule.method);
                errors.push(match problem.revision {
                    Some(revision) => file.error_of(&revision, offset, label, problem.says),
                    None => file.error(offset, label, problem.says, "", ""),
                });
            }
            rules.results.push(rule);
        }
        rules.read_areas(areas, spec, &file, &mut errors);
        if let Some(name) = input_required {
            let mut revisions = spec.revisions.iter();
            match revisions.any(|revision| revision.definition(name.get_ref()).is_some()) {
                true => rules.input_required = Some(name.into_inner()),
                false => errors.push(file.error(
                    name.span().start,
                    "input-required".to_owned(),
                    "no revision has that definition",
                    "",
                    "",
                )),
            }
        }
        let known: BTreeSet<String> = spec.revisions.iter().flat_map(methods).collect();
        for (label, rows, into) in [
            ("named-by", named_by, &mut rules.named_by),
            ("capabilities", capabilities, &mut rules.capabilities),
        ] {
            for (method, value) in rows {
                if known.contains(method.get_ref()) {
                    into.insert(method.into_inner(), value);
                    continue;
                }
                let (offset, problem) = (method.span().start, "no revision has that method");
                let label = format!("{label} of `{}`", method.get_ref());
                errors.push(file.error(offset, label, problem, "", ""));
            }
        }
        for row in capability_part {
            let PartRow {
                method,
                part: name,
                member,
                value,
            } = row;
            let mut revisions = spec.revisions.iter();
            let problem = match rules.capabilities.contains_key(method.get_ref()) {
                false => Some("[capabilities] names no capability of that method"),
                true if revisions.any(|it| takes(it, method.get_ref(), &member)) => None,
                true => Some("no revision has such a member in the params of that method"),
            };
            if let Some(problem) = problem {
                let label = format!("capability-part of `{}`", method.get_ref());
                errors.push(file.error(method.span().start, label, problem, "", ""));
            }
            let parts = rules.capability_parts.entry(method.into_inner());
            parts.or_default().push(CapabilityPart {
                name,
                member,
                value,
            });
        }
        Error::check(errors)?;
        Ok(rules)
    }

    fn read_areas(
        &mut self,
        areas: BTreeMap<Spanned<String>, String>,
        spec: &Spec,
        file: &RuleFile,
        errors: &mut Vec<Error>,
    ) {
        let methods: BTreeSet<String> = spec.revisions.iter().flat_map(methods).collect();
        for (method, area) in areas {
            let odd = format!("the area is no file name: it has to be {AREA}");
            let problem = if !methods.contains(method.get_ref()) {
                "no revision has that method"
            } else if default_area(method.get_ref()) == area {
                "it is in that area by default"
            } else if !is_area(&area) {
                odd.as_str()
            } else {
                self.areas.insert(method.into_inner(), area);
                continue;
            };
            let label = format!("area of `{}`", method.get_ref());
            errors.push(file.error(method.span().start, label, problem, "", ""));
        }
    }

    /// What answers each request of a revision, by method.
    #[must_use]
    pub fn answers(&self, revision: &Revision) -> BTreeMap<String, Answer> {
        let mut answers = BTreeMap::new();
        for (method, request) in requests(revision) {
            let by_rule = self
                .results
                .iter()
                .find(|rule| rule.method == method && rule.covers(revision));
            let answer = paired(revision, request).or_else(|| {
                by_rule.map(|rule| Answer {
                    results: vec![rule.result.clone()],
                    task_result: rule.task_result.clone(),
                    response: None,
                })
            });
            if let Some(answer) = answer {
                answers.insert(method.to_owned(), answer);
            }
        }
        answers
    }

    /// The rule for a request of a revision.
    #[must_use]
    pub fn result(&self, revision: &str, method: &str) -> Option<ResultRule<'_>> {
        let covers = |rule: &&Rule| {
            let ids = rule.revisions.as_ref();
            rule.method == method && ids.is_none_or(|ids| ids.iter().any(|id| id == revision))
        };
        self.results.iter().find(covers).map(Rule::says)
    }

    /// The rule for a request of a schema that is no revision: the last of those whose results it defines.
    #[must_use]
    pub fn result_among(
        &self,
        method: &str,
        defined: impl Fn(&str) -> bool,
    ) -> Option<ResultRule<'_>> {
        let fits = |rule: &&Rule| {
            let mut results = [Some(&rule.result), rule.task_result.as_ref()]
                .into_iter()
                .flatten();
            rule.method == method && results.all(|result| defined(result))
        };
        self.results.iter().rev().find(fits).map(Rule::says)
    }

    /// The definition of the result that asks for input first.
    #[must_use]
    pub fn input_required(&self) -> Option<&str> {
        self.input_required.as_deref()
    }

    /// What a method is to endpoints.
    #[must_use]
    pub fn facts(&self, method: &str) -> MethodFacts<'_> {
        MethodFacts {
            named_by: self.named_by.get(method).map(String::as_str),
            capability: self.capabilities.get(method).map(String::as_str),
            capability_parts: self.capability_parts.get(method).map_or(&[], Vec::as_slice),
        }
    }

    /// The area of a method: the source file that its types live in.
    #[must_use]
    pub fn area<'a>(&'a self, method: &'a str) -> &'a str {
        self.areas
            .get(method)
            .map_or_else(|| default_area(method), String::as_str)
    }
}

/// What is wrong with a rule, and of which revision where others may be right.
struct Problem {
    revision: Option<String>,
    says: String,
}

impl Problem {
    fn of(revision: &str, says: String) -> Self {
        Self {
            revision: Some(revision.to_owned()),
            says,
        }
    }
}

impl Rule {
    fn says(&self) -> ResultRule<'_> {
        ResultRule {
            result: &self.result,
            task_result: self.task_result.as_deref(),
        }
    }

    fn covers(&self, revision: &Revision) -> bool {
        self.revisions
            .as_ref()
            .is_none_or(|ids| ids.contains(&revision.id))
    }

    fn problems(&self, spec: &Spec, before: &[Self]) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut matched = false;
        for id in self.revisions.iter().flatten() {
            if spec.revision(id).is_err() {
                problems.push(Problem::of(id, format!("no revision `{id}`")));
            }
        }
        for revision in spec
            .revisions
            .iter()
            .filter(|revision| self.covers(revision))
        {
            let id = &revision.id;
            let listed = self.revisions.is_some();
            let request = requests(revision).remove(self.method.as_str());
            match request {
                None if listed => {
                    let says = format!("revision `{id}` has no request of that method");
                    problems.push(Problem::of(id, says));
                }
                Some(request) if listed && paired(revision, request).is_some() => {
                    let says = format!("the schema of revision `{id}` says itself what answers it");
                    problems.push(Problem::of(id, says));
                }
                Some(request) if paired(revision, request).is_none() => {
                    matched = true;
                    for result in [Some(&self.result), self.task_result.as_ref()]
                        .into_iter()
                        .flatten()
                    {
                        if revision.definition(result).is_none() {
                            let says = format!("revision `{id}` has no definition `{result}`");
                            problems.push(Problem::of(id, says));
                        }
                    }
                    if before
                        .iter()
                        .any(|other| other.method == self.method && other.covers(revision))
                    {
                        let says = format!("another rule says it for revision `{id}`");
                        problems.push(Problem::of(id, says));
                    }
                }
                _ => {}
            }
        }
        if !matched && problems.is_empty() {
            problems.push(Problem {
                revision: None,
                says: "it matches nothing: no revision has that method without saying itself what answers it".to_owned(),
            });
        }
        problems
    }
}

/// Whether the params of a request have a member, whichever of their shapes they have.
fn takes(revision: &Revision, method: &str, member: &str) -> bool {
    fn has(revision: &Revision, schema: &Value, member: &str, depth: usize) -> bool {
        if schema
            .pointer("/properties")
            .and_then(|it| it.get(member))
            .is_some()
        {
            return true;
        }
        let named = (schema.get("$ref").and_then(Value::as_str))
            .and_then(|name| revision.definition(name.strip_prefix("#/$defs/")?));
        let choices = ["anyOf", "oneOf", "allOf"]
            .iter()
            .filter_map(|key| schema.get(key)?.as_array());
        let mut below = named.into_iter().chain(choices.flatten());
        // A reference may lead back to where it stands.
        depth < 8 && below.any(|schema| has(revision, schema, member, depth + 1))
    }
    let request = requests(revision)
        .get(method)
        .and_then(|name| revision.definition(name));
    let params = request.and_then(|request| request.pointer("/properties/params"));
    params.is_some_and(|params| has(revision, params, member, 0))
}

/// All methods of a revision, of requests and notifications.
pub(crate) fn methods(revision: &Revision) -> Vec<String> {
    let stated = revision
        .definitions()
        .filter_map(|(_, definition)| method_of(definition));
    stated.map(str::to_owned).collect()
}

/// Method and definition of each request of a revision.
fn requests(revision: &Revision) -> BTreeMap<&str, &str> {
    let stated = revision
        .definitions()
        .filter_map(|(name, definition)| Some((method_of(definition)?, name)));
    stated
        .filter(|(method, _)| !method.starts_with("notifications/"))
        .collect()
}

fn method_of(definition: &Value) -> Option<&str> {
    definition.pointer("/properties/method/const")?.as_str()
}

/// What the schema itself says answers a request: `CallToolRequest` is answered by `CallToolResultResponse`.
fn paired(revision: &Revision, request: &str) -> Option<Answer> {
    let response = roles::response(request.strip_suffix("Request")?);
    let result = revision
        .definition(&response)?
        .pointer("/properties/result")?;
    let single = std::slice::from_ref(result);
    let choices = result
        .get("anyOf")
        .and_then(Value::as_array)
        .map_or(single, Vec::as_slice);
    let name = |choice: &Value| {
        Some(
            choice
                .get("$ref")?
                .as_str()?
                .strip_prefix("#/$defs/")?
                .to_owned(),
        )
    };
    let results = choices.iter().map(name).collect::<Option<Vec<_>>>()?;
    Some(Answer {
        results,
        task_result: None,
        response: Some(response),
    })
}

/// The first step of a method, after `notifications/`.
fn default_area(method: &str) -> &str {
    let method = method.strip_prefix("notifications/").unwrap_or(method);
    method.split('/').next().unwrap_or(method)
}

/// The file of an area: its own, or the nearest name that a file can have, or that of messages as a whole.
pub(crate) fn module(area: &str) -> String {
    let near = snake_case(&area.to_ascii_lowercase());
    match [area, near.as_str()].into_iter().find(|name| is_area(name)) {
        Some(name) => name.to_owned(),
        None => "messages".to_owned(),
    }
}

/// Whether an area can be a file and a module of a generated crate, beside those that every crate has.
pub(crate) fn is_area(area: &str) -> bool {
    let own = ["lib", "main", "methods", "mod", "services", "wire"];
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    area.bytes().all(plain)
        && area
            .bytes()
            .next()
            .is_some_and(|first| first.is_ascii_lowercase())
        && !own.contains(&area)
        && snake_case(area) == area
}
