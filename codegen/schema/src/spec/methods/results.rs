//! The result of each request: by the schema, or by a rule where the schema does not say.

use crate::spec::{Revision, Spec, roles};

/// The result that a `[[result]]` row names for a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultRule {
    /// The method of the request.
    pub method: String,
    /// The result definition.
    pub result: String,
    /// The result instead of it when the request's params carry `task`.
    pub task_result: Option<String>,
    /// The revisions that it holds for; `None` for all.
    pub(super) revisions: Option<Vec<String>>,
}

/// The result of a request.
pub enum RequestResult<'r, T> {
    /// The result of the schema's own response to it.
    Response(T),
    /// The definitions that a rule names.
    Ruled(&'r ResultRule),
    /// The definition of its name.
    Named(String),
}

/// Finds what answers the request of a definition: what `response` has of the schema's `XResultResponse`, else what a rule
/// says, else the result of its name.
pub fn answer<'r, T>(
    request: &str,
    response: impl FnOnce(&str) -> Option<T>,
    rule: impl FnOnce() -> Option<&'r ResultRule>,
) -> RequestResult<'r, T> {
    let stem = roles::stem(request);
    if let Some(result) = response(&roles::response(stem)) {
        return RequestResult::Response(result);
    }
    match rule() {
        Some(rule) => RequestResult::Ruled(rule),
        None => RequestResult::Named(roles::result(stem)),
    }
}

impl ResultRule {
    pub(super) fn covers(&self, revision: &str) -> bool {
        let ids = self.revisions.as_ref();
        ids.is_none_or(|ids| ids.iter().any(|id| id == revision))
    }

    /// Returns the definitions that it names.
    pub(super) fn results(&self) -> impl Iterator<Item = &String> {
        [&self.result].into_iter().chain(&self.task_result)
    }

    /// Returns the faults of the rule, each with its revision if others may be right.
    pub(super) fn problems(&self, spec: &Spec, before: &[Self]) -> Vec<(Option<String>, String)> {
        let mut problems = Vec::new();
        let mut matched = false;
        let listed = self.revisions.is_some();
        for revision in spec.revisions.iter().filter(|it| self.covers(&it.id)) {
            let id = &revision.id;
            let mut wrong = |says: String| problems.push((Some(id.clone()), says));
            match roles::request(revision, &self.method) {
                None if listed => wrong(format!("revision `{id}` has no request of that method")),
                Some(request) if !is_paired(revision, request) => {
                    matched = true;
                    for result in self.results() {
                        if revision.definition(result).is_none() {
                            wrong(format!("revision `{id}` has no definition `{result}`"));
                        }
                    }
                    let mut others = before.iter().filter(|other| other.method == self.method);
                    if others.any(|other| other.covers(id)) {
                        wrong(format!("another rule says it for revision `{id}`"));
                    }
                }
                Some(_) if listed => wrong(format!(
                    "the schema of revision `{id}` says itself what answers it"
                )),
                _ => {}
            }
        }
        if !matched && problems.is_empty() {
            let says = "it matches nothing: no revision has that method without saying itself what answers it";
            problems.push((None, says.to_owned()));
        }
        problems
    }
}

/// Returns whether the schema itself says what answers a request: `CallToolRequest` is answered by `CallToolResultResponse`.
fn is_paired(revision: &Revision, request: &str) -> bool {
    let result = |response: &str| revision.definition(response)?.pointer("/properties/result");
    matches!(answer(request, result, || None), RequestResult::Response(_))
}
