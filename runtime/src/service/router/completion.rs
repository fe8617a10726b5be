//! Completions: suggestions while a person fills in an argument.

use mcp_revisions_core::latest as mcp;

use super::handler::BoxedHandler;
use super::{Handler, IntoValues, Router};

/// The most values that one answer may have.
const MOST: usize = 100;

impl Router {
    /// Suggestions for an argument of a prompt, by its name, or for a variable of a resource template, by its text; the
    /// function takes what was typed so far. The other arguments that were filled in before are
    /// [`RequestContext::completion_arguments`](crate::service::RequestContext::completion_arguments).
    pub fn completion<Shape, H>(mut self, of: &str, argument: &str, complete: H) -> Self
    where
        H: Handler<
                Shape,
                Arguments: TextArgument,
                Future: Future<Output: IntoValues> + Send + 'static,
            >,
    {
        let complete: BoxedHandler<String, Vec<String>> = Box::new(move |typed, cx| {
            let answer = complete.call(typed.into(), cx);
            Box::pin(async move { answer?.await.into_values() })
        });
        let key = (of.to_owned(), argument.to_owned());
        self.takes(
            &format!("the completion of `{of}`, {argument}"),
            H::states(),
        );
        let free = self.completions.insert(key, complete).is_none();
        self.report_taken(free, "completions", &format!("{of}, {argument}"));
        self
    }
}

/// A text as the argument of a function: the typed text of a completion, or the URI of `dynamic_resources`.
#[diagnostic::on_unimplemented(
    message = "the argument of this function is a text, and not `{Self}`",
    label = "take a `String`: what was typed so far, or the URI"
)]
pub trait TextArgument: From<String> + Send + 'static {}

impl TextArgument for String {}

/// Returns the result with these values, or with as many as it may have.
pub(super) fn result(mut values: Vec<String>) -> mcp::CompleteResult {
    let total = i64::try_from(values.len()).unwrap_or(i64::MAX);
    let more = values.len() > MOST;
    values.truncate(MOST);
    let completion = mcp::CompleteResultCompletion::new(values);
    mcp::CompleteResult::new(completion.with_total(total).with_has_more(more))
}
