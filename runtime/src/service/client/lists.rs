//! All that a server has, page by page, and calls of its tools with arguments of any type.

use std::collections::HashSet;

use mcp_revisions_core::latest::{self as mcp, CallServer};
use mcp_wire::JsonObject;
use serde::Serialize;

use super::Client;
use crate::service::Error;

/// Maximum number of pages before a list counts as endless.
const PAGES: usize = 1_000;

/// The cursors of a list that was asked for page by page.
#[derive(Default)]
pub(super) struct Cursors(HashSet<String>);

impl Cursors {
    /// Returns the params of the next page; `None` after the last one. Returns an error for a list that comes round again, or
    /// does not end.
    pub(super) fn next(
        &mut self,
        cursor: Option<String>,
        method: &str,
    ) -> Result<Option<mcp::PaginatedRequestParams>, Error> {
        let Some(cursor) = cursor else {
            return Ok(None);
        };
        if self.0.len() >= PAGES || !self.0.insert(cursor.clone()) {
            let pages = self.0.len();
            return Err(Error::Internal(format!(
                "the pages of {method} do not end: after {pages} of them the server names one that came before, or one more"
            )));
        }
        Ok(Some(mcp::PaginatedRequestParams::new().with_cursor(cursor)))
    }
}

/// A method that returns the entries of all pages.
macro_rules! list_all {
    ($name:ident, $list:ident, $member:ident, $entry:ty, $what:literal, $method:literal) => {
        #[doc = concat!("Returns all ", $what, ", of every page of `", $method, "`. Dropping the future cancels the request.")]
        ///
        /// # Errors
        /// As a single page, and a list of more than 1,000 pages.
        pub async fn $name(&self) -> Result<Vec<$entry>, Error> {
            let (mut all, mut cursors) = (Vec::new(), Cursors::default());
            let mut params = None;
            loop {
                let page = self.$list(params).await?;
                all.extend(page.$member);
                params = cursors.next(page.next_cursor, $method)?;
                if params.is_none() {
                    return Ok(all);
                }
            }
        }
    };
}

impl Client {
    list_all!(
        list_all_tools,
        list_tools,
        tools,
        mcp::Tool,
        "tools",
        "tools/list"
    );
    list_all!(
        list_all_resources,
        list_resources,
        resources,
        mcp::Resource,
        "resources",
        "resources/list"
    );
    list_all!(
        list_all_resource_templates,
        list_resource_templates,
        resource_templates,
        mcp::ResourceTemplate,
        "resource templates",
        "resources/templates/list"
    );
    list_all!(
        list_all_prompts,
        list_prompts,
        prompts,
        mcp::Prompt,
        "prompts",
        "prompts/list"
    );

    /// Calls a tool with arguments that serde writes as an object: a struct, a map, or `serde_json::json!({..})`.
    /// Dropping the future cancels the call.
    ///
    /// ```no_run
    /// # use mcp_revisions::service::{Client, Error, client::ResultText};
    /// # async fn run(client: Client) -> Result<(), Error> {
    /// let result = client.call("weather", &serde_json::json!({ "city": "Paris" })).await?;
    /// println!("{}", result.text());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As `call_tool`, and [`Error::InvalidParams`] for arguments that are not an object. A tool that fails is a result with
    /// `is_error`.
    pub async fn call(
        &self,
        tool: &str,
        arguments: &(impl Serialize + ?Sized),
    ) -> Result<mcp::CallToolResult, Error> {
        let arguments = JsonObject::from_value(arguments)
            .map_err(|why| Error::InvalidParams(format!("the arguments of `{tool}`: {why}")))?;
        let params = mcp::CallToolRequestParams::new(tool).with_arguments(arguments);
        self.call_tool(params).await
    }

    /// Returns the name and the version of the server, or `None` before the first call, and of a server that says neither.
    #[must_use]
    pub fn server_info(&self) -> Option<mcp::Implementation> {
        self.server()?.info?.read().ok()
    }

    /// Returns the capabilities of the server, or `None` before the first call.
    #[must_use]
    pub fn capabilities(&self) -> Option<mcp::ServerCapabilities> {
        self.server()?.capabilities?.read().ok()
    }
}

/// The texts of a result, for a reader that wants nothing else.
pub trait ResultText {
    /// Returns the texts, one line break between two; other content, such as an image, is left out.
    fn text(&self) -> String;
}

/// Joins texts by line breaks.
fn joined<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    texts.collect::<Vec<_>>().join("\n")
}

/// Returns the text of a content block, if it is one.
fn block(content: &mcp::ContentBlock) -> Option<&str> {
    match content {
        mcp::ContentBlock::Text(text) => Some(&text.text),
        _ => None,
    }
}

/// The structured content of a result.
pub trait StructuredResult {
    /// Returns the structured content as a type of your own: `result.structured::<Weather>()?`.
    ///
    /// # Errors
    /// Returns the error of the tool, if the result is one, and an error if there is no structured content, or it is not of
    /// this type.
    fn structured<T: serde::de::DeserializeOwned>(&self) -> Result<T, Error>;
}

impl StructuredResult for mcp::CallToolResult {
    fn structured<T: serde::de::DeserializeOwned>(&self) -> Result<T, Error> {
        if self.is_error == Some(true) {
            return Err(Error::Internal(self.text()));
        }
        let content = self.structured_content.as_ref();
        let content =
            content.ok_or_else(|| Error::internal("the result has no structured content"))?;
        content.parse().map_err(|error| {
            let why = mcp_revisions_sansio::errors::abridged(&error);
            Error::Internal(format!("the structured content of the result: {why}"))
        })
    }
}

impl ResultText for mcp::CallToolResult {
    fn text(&self) -> String {
        joined(self.content.iter().filter_map(block))
    }
}

impl ResultText for mcp::GetPromptResult {
    fn text(&self) -> String {
        joined(self.messages.iter().filter_map(|one| block(&one.content)))
    }
}

impl ResultText for mcp::ReadResourceResult {
    fn text(&self) -> String {
        joined(self.contents.iter().filter_map(|one| match one {
            mcp::TextOrBlobContents::Text(text) => Some(text.text.as_str()),
            _ => None,
        }))
    }
}
