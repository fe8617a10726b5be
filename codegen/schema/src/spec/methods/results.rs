//! Which result answers a request: by the schema, or by a rule where the schema does not say.

use super::requests::requests;
use crate::spec::{Revision, Spec, roles};

/// What a `[[result]]` says answers a request.
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

/// What answers a request.
pub(crate) enum Answer<'r, T> {
    /// The result of the schema's own response to it.
    Response(T),
    /// The definitions that a rule names.
    Ruled(&'r ResultRule),
    /// The definition of its name.
    Named(String),
}

/// Finds what answers the request of a definition: what `response` has of the schema's `XResultResponse`, else what a rule
/// says, else the result of its name.
pub(crate) fn answer<'r, T>(
    request: &str,
    response: impl FnOnce(&str) -> Option<T>,
    rule: impl FnOnce() -> Option<&'r ResultRule>,
) -> Answer<'r, T> {
    let stem = roles::stem(request);
    if let Some(result) = response(&roles::response(stem)) {
        return Answer::Response(result);
    }
    match rule() {
        Some(rule) => Answer::Ruled(rule),
        None => Answer::Named(roles::result(stem)),
    }
}

/// What is wrong with a rule, and of which revision where others may be right.
pub(super) struct Problem {
    pub(super) revision: Option<String>,
    pub(super) says: String,
}

impl Problem {
    fn of(revision: &str, says: String) -> Self {
        Self {
            revision: Some(revision.to_owned()),
            says,
        }
    }
}

impl ResultRule {
    pub(super) fn covers(&self, revision: &str) -> bool {
        let ids = self.revisions.as_ref();
        ids.is_none_or(|ids| ids.iter().any(|id| id == revision))
    }

    pub(super) fn problems(&self, spec: &Spec, before: &[Self]) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut matched = false;
        for revision in spec
            .revisions
            .iter()
            .filter(|revision| self.covers(&revision.id))
        {
            let id = &revision.id;
            let listed = self.revisions.is_some();
            let request = requests(revision).remove(self.method.as_str());
            match request {
                None if listed => {
                    let says = format!("revision `{id}` has no request of that method");
                    problems.push(Problem::of(id, says));
                }
                Some(request) if listed && is_paired(revision, request) => {
                    let says = format!("the schema of revision `{id}` says itself what answers it");
                    problems.push(Problem::of(id, says));
                }
                Some(request) if !is_paired(revision, request) => {
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
                        .any(|other| other.method == self.method && other.covers(id))
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

/// Whether the schema itself says what answers a request: `CallToolRequest` is answered by `CallToolResultResponse`.
fn is_paired(revision: &Revision, request: &str) -> bool {
    let result = |response: &str| revision.definition(response)?.pointer("/properties/result");
    matches!(answer(request, result, || None), Answer::Response(_))
}
