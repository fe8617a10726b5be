//! Tools and resources that are known only when a client asks: lists as functions of the cursor and the context, and pages.

use std::fmt::Display;

use mcp_revisions_core::{Latest, latest as mcp};

use super::handler::BoxedHandler;
use super::result::service_error;
use super::{IntoContents, IntoToolResult, Router};
use crate::service::{Error, RequestContext};
use mcp_revisions_core::errors::shortened;

/// The mark of a cursor that is the function's own.
const DYNAMIC: char = '+';

/// A list that is known when a client asks: what is on it, and what its entries do.
pub(super) struct Dynamic<Page, Params, Outcome> {
    pub(super) list: BoxedHandler<Option<String>, Page>,
    pub(super) run: BoxedHandler<Params, Outcome>,
}

impl Router {
    /// Adds tools that are known only when a client asks, such as those of its principal: `list` is called with the cursor of the
    /// page, `None` for the first one, and `call` with each call of a tool that is not registered by itself.
    ///
    /// Registered tools are listed before them, on the first pages. Over HTTP, the tools of such a router are listed for each
    /// caller before its first call, since headers may repeat their parameters; see
    /// [`Options::without_param_check`](crate::http::Options::without_param_check).
    ///
    /// ```
    /// # use mcp_revisions::Latest;
    /// # use mcp_revisions::latest as mcp;
    /// # use mcp_revisions::mcp_wire::JsonObject;
    /// # use mcp_revisions::service::{Error, RequestContext, Router};
    /// async fn list(_cursor: Option<String>, _cx: RequestContext<Latest>) -> Result<mcp::ListToolsResult, Error> {
    ///     let schema = JsonObject::from_text(r#"{"type": "object"}"#)?;
    ///     Ok(mcp::ListToolsResult::new(vec![mcp::Tool::new("today", schema)]))
    /// }
    ///
    /// async fn call(params: mcp::CallToolRequestParams, _cx: RequestContext<Latest>) -> Result<String, Error> {
    ///     match params.name.as_str() {
    ///         "today" => Ok("Friday".to_owned()),
    ///         name => Err(Error::InvalidParams(format!("no tool `{name}`"))),
    ///     }
    /// }
    ///
    /// let router = Router::new().dynamic_tools(list, call);
    /// # let _ = router;
    /// ```
    #[must_use]
    pub fn dynamic_tools<L, LW, E, C, CW>(mut self, list: L, call: C) -> Self
    where
        L: Fn(Option<String>, RequestContext<Latest>) -> LW + Send + Sync + 'static,
        LW: Future<Output = Result<mcp::ListToolsResult, E>> + Send + 'static,
        E: Display + 'static,
        C: Fn(mcp::CallToolRequestParams, RequestContext<Latest>) -> CW + Send + Sync + 'static,
        CW: Future<Output: IntoToolResult> + Send + 'static,
    {
        let run: BoxedHandler<mcp::CallToolRequestParams, _> = Box::new(move |params, cx| {
            let answer = call(params, cx);
            Box::pin(async move { answer.await.into_tool_result() })
        });
        let list = listed(list);
        let before = self.dynamic_tools.replace(Dynamic { list, run });
        self.once(before.is_none(), "dynamic_tools");
        self
    }

    /// Adds resources that are known only when a client asks: `list` is called with the cursor of the page, `None` for the first
    /// one, and `read` with each URI that is neither registered nor of a template.
    #[must_use]
    pub fn dynamic_resources<L, LW, E, R, RW>(mut self, list: L, read: R) -> Self
    where
        L: Fn(Option<String>, RequestContext<Latest>) -> LW + Send + Sync + 'static,
        LW: Future<Output = Result<mcp::ListResourcesResult, E>> + Send + 'static,
        E: Display + 'static,
        R: Fn(String, RequestContext<Latest>) -> RW + Send + Sync + 'static,
        RW: Future<Output: IntoContents> + Send + 'static,
    {
        let run: BoxedHandler<String, _> = Box::new(move |uri, cx| {
            let answer = read(uri.clone(), cx);
            Box::pin(async move { answer.await.into_contents(uri, None) })
        });
        let list = listed(list);
        let before = self.dynamic_resources.replace(Dynamic { list, run });
        self.once(before.is_none(), "dynamic_resources");
        self
    }

    /// Sets how many entries a page of a list of tools, resources, templates or prompts has; all on one page by default.
    #[must_use]
    pub fn with_page_size(mut self, entries: usize) -> Self {
        self.page_size = Some(entries.max(1));
        self
    }

    fn once(&mut self, is_first: bool, called: &str) {
        if !is_first {
            let problem = format!("`{called}` is called twice: let one function list them all");
            self.problems.push(problem);
        }
    }

    /// Returns a page of what is registered, and the cursor of the next page.
    pub(super) fn page<T>(
        &self,
        all: impl Iterator<Item = T>,
        cursor: Option<&str>,
    ) -> Result<(Vec<T>, Option<String>), Error> {
        page_of(all, cursor, self.page_size)
    }
}

/// Returns a page of a list with so many entries, or all of them, and the cursor of the next page.
pub(super) fn page_of<T>(
    all: impl Iterator<Item = T>,
    cursor: Option<&str>,
    size: Option<usize>,
) -> Result<(Vec<T>, Option<String>), Error> {
    let start = match cursor {
        None => 0,
        Some(cursor) => cursor.parse::<usize>().map_err(|_| {
            let cursor = shortened(cursor);
            let why = format!("no page `{cursor}`: send a cursor that a list of this server named");
            Error::InvalidParams(why)
        })?,
    };
    let size = size.unwrap_or(usize::MAX);
    let mut rest = all.skip(start);
    let page = rest.by_ref().take(size).collect();
    let next = rest.next().map(|_| start.saturating_add(size).to_string());
    Ok((page, next))
}

/// Returns the function of a list with its types erased.
fn listed<L, LW, Page, E>(list: L) -> BoxedHandler<Option<String>, Page>
where
    L: Fn(Option<String>, RequestContext<Latest>) -> LW + Send + Sync + 'static,
    LW: Future<Output = Result<Page, E>> + Send + 'static,
    E: Display + 'static,
{
    Box::new(move |cursor, cx| {
        let page = list(cursor, cx);
        Box::pin(async move { page.await.map_err(service_error) })
    })
}

/// Splits a cursor: one of registered entries, or one of the function's own.
pub(super) fn of_function(cursor: Option<&str>) -> Option<String> {
    Some(cursor?.strip_prefix(DYNAMIC)?.to_owned())
}

/// Returns the cursor by which a client asks for a page of the function.
pub(super) fn marked(cursor: Option<String>) -> Option<String> {
    cursor.map(|cursor| format!("{DYNAMIC}{cursor}"))
}
