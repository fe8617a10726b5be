//! Tools and resources that are known only when a client asks: functions that list them, and pages.

use std::fmt::Display;

use mcp_revisions_core::latest as mcp;

use super::completion::TextArgument;
use super::handler::BoxedHandler;
use super::result::service_error;
use super::{Handler, IntoContents, IntoToolResult, NoArguments, Router};
use crate::service::Error;
use mcp_revisions_core::errors::shortened;

/// The mark of a cursor that is the function's own.
const DYNAMIC: char = '+';

/// A list that is known when a client asks, page by page of so many entries, and what its entries do; `None` if the templates
/// of the router do it.
pub(super) struct Dynamic<Page, Params, Outcome> {
    pub(super) list: BoxedHandler<(Option<String>, Option<usize>), Page>,
    pub(super) run: Option<BoxedHandler<Params, Outcome>>,
}

/// The cursor of a page, as the argument of a function that lists: none, where the router makes the pages, or
/// `Option<String>`, which is `None` for the first page.
#[diagnostic::on_unimplemented(
    message = "a function that lists takes the cursor of the page, and not `{Self}`",
    label = "take `Option<String>`, or no argument and return all entries in a `Vec`"
)]
pub trait PageCursor: Send + 'static {
    /// Returns it as the argument.
    fn of_page(cursor: Option<String>) -> Self;
}

impl PageCursor for Option<String> {
    fn of_page(cursor: Option<String>) -> Self {
        cursor
    }
}

impl PageCursor for NoArguments {
    fn of_page(_: Option<String>) -> Self {
        Self
    }
}

/// The call of a dynamic tool, as an argument of its function.
#[diagnostic::on_unimplemented(
    message = "the function of `dynamic_tools` takes the call, and not `{Self}`",
    label = "take `mcp::CallToolRequestParams`, which has the name of the tool and its arguments"
)]
pub trait DynamicCall: Send + 'static {
    /// Returns it as the argument.
    fn of_call(params: mcp::CallToolRequestParams) -> Self;
}

impl DynamicCall for mcp::CallToolRequestParams {
    fn of_call(params: mcp::CallToolRequestParams) -> Self {
        params
    }
}

/// An answer of a function that lists: all entries in a `Vec`, of which the router makes pages
/// ([`Router::with_page_size`]), or the page of the cursor.
#[diagnostic::on_unimplemented(
    message = "a function that lists cannot answer with `{Self}`",
    label = "return a `Vec` of all entries, the result of the list with one page, or a `Result` of one of these"
)]
pub trait IntoPage<Page> {
    /// Returns the page of this cursor, with so many entries at most.
    ///
    /// # Errors
    /// Returns the error of the function, or that of a cursor that it did not give out.
    fn into_page(self, cursor: Option<String>, size: Option<usize>) -> Result<Page, Error>;
}

/// The pages of a list, and all of its entries, are answers.
macro_rules! lists {
    ($($page:ident of $entry:ident),*) => {$(
        impl IntoPage<mcp::$page> for mcp::$page {
            fn into_page(self, _: Option<String>, _: Option<usize>) -> Result<Self, Error> {
                Ok(self)
            }
        }

        impl IntoPage<mcp::$page> for Vec<mcp::$entry> {
            fn into_page(
                self,
                cursor: Option<String>,
                size: Option<usize>,
            ) -> Result<mcp::$page, Error> {
                let (entries, next_cursor) = page_of(self.into_iter(), cursor.as_deref(), size)?;
                Ok(mcp::$page { next_cursor, ..mcp::$page::new(entries) })
            }
        }
    )*};
}

lists!(ListToolsResult of Tool, ListResourcesResult of Resource);

impl<Page, P: IntoPage<Page>, E: Display + 'static> IntoPage<Page> for Result<P, E> {
    fn into_page(self, cursor: Option<String>, size: Option<usize>) -> Result<Page, Error> {
        self.map_err(service_error)?.into_page(cursor, size)
    }
}

impl Router {
    /// Adds tools that are known only when a client asks, such as those of its principal: `list` returns them, and `call` is
    /// called with each call of a tool that is not registered by itself. Both are [handlers](Handler), with states like others.
    ///
    /// `list` returns all of them in a `Vec`, of which the router makes pages; or it takes the cursor of the page, an
    /// `Option<String>`, and returns that page. A listed tool with the name of a registered one is left out.
    ///
    /// Registered tools are listed before them, on the first pages. Over HTTP, the tools of such a router are listed for each
    /// caller before its first call, since headers may repeat their parameters; see
    /// [`Options::without_param_check`](crate::http::Options::without_param_check).
    ///
    /// ```
    /// # use mcp_revisions::latest as mcp;
    /// # use mcp_revisions::mcp_wire::JsonObject;
    /// # use mcp_revisions::service::{Error, Router, State};
    /// struct Calendar {
    ///     days: Vec<String>,
    /// }
    ///
    /// async fn list(calendar: State<Calendar>) -> Vec<mcp::Tool> {
    ///     let schema = || JsonObject::from_text(r#"{"type": "object"}"#).unwrap_or_default();
    ///     calendar.days.iter().map(|day| mcp::Tool::new(day, schema())).collect()
    /// }
    ///
    /// async fn call(calendar: State<Calendar>, params: mcp::CallToolRequestParams) -> Result<String, Error> {
    ///     match calendar.days.contains(&params.name) {
    ///         true => Ok(format!("It is {}.", params.name)),
    ///         false => Err(Error::InvalidParams(format!("no tool `{}`", params.name))),
    ///     }
    /// }
    ///
    /// let router = Router::new().with_state(Calendar { days: vec!["friday".to_owned()] }).dynamic_tools(list, call);
    /// # let _ = router;
    /// ```
    pub fn dynamic_tools<ListShape, L, CallShape, C>(mut self, list: L, call: C) -> Self
    where
        L: Handler<
                ListShape,
                Arguments: PageCursor,
                Future: Future<Output: IntoPage<mcp::ListToolsResult>> + Send + 'static,
            >,
        C: Handler<
                CallShape,
                Arguments: DynamicCall,
                Future: Future<Output: IntoToolResult> + Send + 'static,
            >,
    {
        self.takes("`dynamic_tools`", L::states());
        self.takes("`dynamic_tools`", C::states());
        let run: BoxedHandler<mcp::CallToolRequestParams, _> = Box::new(move |params, cx| {
            let answer = call.call(C::Arguments::of_call(params), cx);
            Box::pin(async move { answer?.await.into_tool_result() })
        });
        let (list, run) = (listed(list), Some(run));
        let before = self.dynamic_tools.replace(Dynamic { list, run });
        self.once(before.is_none(), "dynamic_tools");
        self
    }

    /// Adds resources that are known only when a client asks: `list` returns them, as in
    /// [`dynamic_tools`](Self::dynamic_tools), and `read` takes each URI that is neither registered nor of a template.
    pub fn dynamic_resources<ListShape, L, ReadShape, R>(mut self, list: L, read: R) -> Self
    where
        L: Handler<
                ListShape,
                Arguments: PageCursor,
                Future: Future<Output: IntoPage<mcp::ListResourcesResult>> + Send + 'static,
            >,
        R: Handler<
                ReadShape,
                Arguments: TextArgument,
                Future: Future<Output: IntoContents> + Send + 'static,
            >,
    {
        self.takes("`dynamic_resources`", R::states());
        let run: BoxedHandler<String, _> = Box::new(move |uri, cx| {
            let answer = read.call(uri.clone().into(), cx);
            Box::pin(async move { answer?.await.into_contents(uri, None) })
        });
        self.list_by(list, Some(run))
    }

    /// Lists resources that are known only when a client asks, and that the templates of the router read. `list` is that of
    /// [`dynamic_resources`](Self::dynamic_resources).
    pub fn resource_list<Shape, L>(self, list: L) -> Self
    where
        L: Handler<
                Shape,
                Arguments: PageCursor,
                Future: Future<Output: IntoPage<mcp::ListResourcesResult>> + Send + 'static,
            >,
    {
        self.list_by(list, None)
    }

    fn list_by<Shape, L>(
        mut self,
        list: L,
        run: Option<BoxedHandler<String, mcp::ReadResourceOutcome>>,
    ) -> Self
    where
        L: Handler<
                Shape,
                Arguments: PageCursor,
                Future: Future<Output: IntoPage<mcp::ListResourcesResult>> + Send + 'static,
            >,
    {
        self.takes("`dynamic_resources`", L::states());
        let list = listed(list);
        let before = self.dynamic_resources.replace(Dynamic { list, run });
        self.once(before.is_none(), "dynamic_resources");
        self
    }

    /// Sets how many entries a page of a list of tools, resources, templates or prompts has; all on one page by default.
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
    let most = size.unwrap_or(usize::MAX);
    let mut rest = all.skip(start);
    let page = rest.by_ref().take(most).collect();
    let next = rest.next().map(|_| start.saturating_add(most).to_string());
    Ok((page, next))
}

/// Returns the function of a list with its types erased.
fn listed<Shape, L, Page>(list: L) -> BoxedHandler<(Option<String>, Option<usize>), Page>
where
    L: Handler<
            Shape,
            Arguments: PageCursor,
            Future: Future<Output: IntoPage<Page>> + Send + 'static,
        >,
    Page: 'static,
{
    Box::new(move |(cursor, size), cx| {
        let page = list.call(L::Arguments::of_page(cursor.clone()), cx);
        Box::pin(async move { page?.await.into_page(cursor, size) })
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
