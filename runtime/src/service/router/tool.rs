//! Tools: functions of typed arguments that a model may call.

use mcp_revisions_core::latest as mcp;
use mcp_wire::{Json, JsonObject};
use serde::de::DeserializeOwned;

use super::handler::{BoxedHandler, RouterFuture};
use super::result::fails;
use super::{Handler, IntoToolResult, LastAdded, Router, Tool};
#[cfg(doc)]
use crate::service::RequestContext;
use mcp_revisions_sansio::errors::abridged;

/// The function of a tool, from the arguments of the request to its answer.
pub(super) type Run = BoxedHandler<Option<JsonObject>, mcp::CallToolOutcome>;

/// A function under the attribute `#[tool]` of feature `macros`, by the type of its name.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "name a function that has the attribute `#[tool]`"
)]
pub trait ToolFunction {
    /// Adds the tool to a router.
    fn add_to(router: Router) -> Router;
}

impl Router {
    /// Adds the tool of a function under the attribute `#[tool]`, which has its description and hints: feature `macros`.
    pub fn add<Function: ToolFunction>(self) -> Self {
        Function::add_to(self)
    }

    /// Adds a tool with a complete description: schemas, title, hints.
    pub fn tool_of<Shape, H>(mut self, tool: mcp::Tool, run: H) -> Self
    where
        H: Handler<
                Shape,
                Arguments: DeserializeOwned,
                Future: Future<Output: IntoToolResult> + Send + 'static,
            >,
    {
        let name = tool.name.clone();
        self.takes(&format!("the tool `{name}`"), H::states());
        let run: Run = Box::new(move |arguments, cx| {
            let arguments = match read(&name, arguments) {
                Ok(arguments) => arguments,
                Err(why) => return misread(why),
            };
            let answer = run.call(arguments, cx);
            Box::pin(async move { answer?.await.into_tool_result() })
        });
        self.register(tool, run)
    }

    /// Changes the description of the tool that this follows: its title, its hints, its icons.
    ///
    /// ```
    /// # use mcp_revisions::latest as mcp;
    /// # use mcp_revisions::service::Router;
    /// let router = Router::new()
    ///     .tool("now", "Tells the time.", || async { "noon" })
    ///     .described(|tool| tool.with_title("Clock").with_annotations(mcp::ToolAnnotations::new().with_read_only_hint(true)));
    /// # let _ = router;
    /// ```
    pub fn described(mut self, describe: impl FnOnce(mcp::Tool) -> mcp::Tool) -> Self {
        if self.follows(LastAdded::Tool, "described", "a tool")
            && let Some(last) = self.tools.all.last_mut()
        {
            let name = last.tool.name.clone();
            last.tool = describe(last.tool.clone());
            // It stays what calls name it.
            last.tool.name = name;
        }
        self
    }

    /// Sets the scopes that calls need of the tool that this follows, as
    /// [`require_scopes`](RequestContext::require_scopes) in its function would: without one of them the response has
    /// status 403, and the client signs in again for them. Over stdio, calls need none.
    ///
    /// ```
    /// # use mcp_revisions::service::Router;
    /// let router = Router::new()
    ///     .tool("now", "Tells the time.", || async { "noon" })
    ///     .with_scopes(["time:read"]);
    /// # let _ = router;
    /// ```
    pub fn with_scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        if self.follows(LastAdded::Tool, "with_scopes", "a tool")
            && let Some(last) = self.tools.all.last_mut()
        {
            last.scopes = scopes.into_iter().map(Into::into).collect();
        }
        self
    }

    /// Registers a tool and its function.
    fn register(mut self, tool: mcp::Tool, run: Run) -> Self {
        let name = tool.name.clone();
        if let Err(problem) = takes_an_object(&tool.input_schema) {
            self.problems.push(format!("the tool `{name}` {problem}"));
        }
        let (task, scopes) = (None, Vec::new());
        let added = Tool {
            tool,
            task,
            scopes,
            run,
        };
        let free = self.tools.add(&name, added);
        self.report_taken(free, "tools", &name);
        self.last = LastAdded::Tool;
        self
    }
}

fn takes_an_object(schema: &JsonObject) -> Result<(), String> {
    match schema.get("type") {
        Some(kind) if kind.as_str().as_deref() == Some("object") => Ok(()),
        _ => Err("takes no object: let its arguments be a struct with named members".to_owned()),
    }
}

/// Returns the answer to arguments that are not those of the tool: the model made them, and can mend them.
fn misread(why: String) -> RouterFuture<mcp::CallToolOutcome> {
    Box::pin(std::future::ready(Ok(fails(why).into())))
}

fn read<A: DeserializeOwned>(tool: &str, arguments: Option<JsonObject>) -> Result<A, String> {
    let arguments = Json::from(arguments.unwrap_or_default());
    let mut reader = serde_json::Deserializer::from_str(arguments.text());
    serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        let printed = error.into_inner().to_string();
        // The caller never saw the text that this counts lines of.
        let why = printed
            .rsplit_once(" at line ")
            .map_or(&*printed, |(why, _)| why);
        match path.as_str() {
            "." => format!("arguments of `{tool}`: {}", abridged(&why)),
            path => format!(
                "argument `{}` of `{tool}`: {}",
                abridged(&path),
                abridged(&why)
            ),
        }
    })
}
