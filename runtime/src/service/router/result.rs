//! The values that functions may answer with, and their results.

use std::any::Any;
use std::fmt::Display;

use mcp_revisions_core::latest as mcp;
use mcp_wire::JsonObject;
use mcp_wire::args::Uri;
use serde::Serialize;

use crate::service::Error;

/// A value that a tool answers with as structured content, and as text beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Json<T>(pub T);

/// A type whose JSON Schema is known: with feature `schemars` each that it can describe, without it none.
#[diagnostic::on_unimplemented(
    message = "the schema of `{Self}` is not known",
    label = "derive `schemars::JsonSchema` for it",
    note = "`Router::tool_of` takes a tool with a schema of your own"
)]
pub trait Described {
    /// Returns the schema.
    fn schema() -> Option<JsonObject>;
}

/// A value that a tool may answer with.
///
/// An error of [`Error`] that says the call was wrong answers the request; any other is a result that the model reads.
#[diagnostic::on_unimplemented(
    message = "a tool cannot answer with `{Self}`",
    label = "return text, `Json<T>`, content such as `mcp::ImageContent`, `mcp::CallToolResult`, or a `Result` of one of these",
    note = "return `Json<T>` for structured content: `T` implements `serde::Serialize`, and `schemars::JsonSchema` for its schema",
    note = "the error of a `Result` implements `std::fmt::Display`; an `mcp_revisions::service::Error` has a code of its own"
)]
pub trait IntoToolResult {
    /// Returns the result.
    ///
    /// # Errors
    /// Returns the error of the call itself.
    fn into_tool_result(self) -> Result<mcp::CallToolOutcome, Error>;

    /// Returns the schema of the structured content, if there is any.
    fn output_schema() -> Option<JsonObject> {
        None
    }
}

fn says(text: impl Into<String>) -> mcp::CallToolResult {
    mcp::CallToolResult::new(vec![mcp::TextContent::new(text).into()])
}

/// Returns a result that says what went wrong, for the model to read.
pub(super) fn fails(why: impl Into<String>) -> mcp::CallToolResult {
    says(why).with_is_error(true)
}

macro_rules! as_text {
    ($($type:ty),*) => {$(
        impl IntoToolResult for $type {
            fn into_tool_result(self) -> Result<mcp::CallToolOutcome, Error> {
                Ok(says(self.to_string()).into())
            }
        }
    )*};
}

as_text!(&'static str, bool, i32, i64, u32, u64, usize, f32, f64);

impl IntoToolResult for String {
    fn into_tool_result(self) -> Result<mcp::CallToolOutcome, Error> {
        Ok(says(self).into())
    }
}

impl IntoToolResult for () {
    fn into_tool_result(self) -> Result<mcp::CallToolOutcome, Error> {
        Ok(mcp::CallToolResult::new(Vec::new()).into())
    }
}

impl IntoToolResult for mcp::ContentBlock {
    fn into_tool_result(self) -> Result<mcp::CallToolOutcome, Error> {
        vec![self].into_tool_result()
    }
}

macro_rules! as_block {
    ($($type:ty),*) => {$(
        impl IntoToolResult for $type {
            fn into_tool_result(self) -> Result<mcp::CallToolOutcome, Error> {
                mcp::ContentBlock::from(self).into_tool_result()
            }
        }
    )*};
}

as_block!(
    mcp::TextContent,
    mcp::ImageContent,
    mcp::AudioContent,
    mcp::ResourceLink,
    mcp::EmbeddedResource
);

impl IntoToolResult for Vec<mcp::ContentBlock> {
    fn into_tool_result(self) -> Result<mcp::CallToolOutcome, Error> {
        Ok(mcp::CallToolResult::new(self).into())
    }
}

impl IntoToolResult for mcp::CallToolResult {
    fn into_tool_result(self) -> Result<mcp::CallToolOutcome, Error> {
        Ok(self.into())
    }
}

impl IntoToolResult for mcp::CallToolOutcome {
    fn into_tool_result(self) -> Result<mcp::CallToolOutcome, Error> {
        Ok(self)
    }
}

impl<T: Serialize + Described> IntoToolResult for Json<T> {
    fn into_tool_result(self) -> Result<mcp::CallToolOutcome, Error> {
        let text = serde_json::to_string(&self.0).map_err(Error::internal)?;
        let value = mcp_wire::Json::from_text(&text)?;
        Ok(says(text).with_structured_content(value).into())
    }

    fn output_schema() -> Option<JsonObject> {
        T::schema()
    }
}

/// Returns the error of a function as one of the service: that itself, one of JSON-RPC, or the text of any other as an internal
/// error.
pub(super) fn service_error<E: Display + 'static>(error: E) -> Error {
    let known = &error as &dyn Any;
    if let Some(error) = known.downcast_ref::<Error>() {
        return error.clone();
    }
    if let Some(error) = known.downcast_ref::<mcp_wire::ErrorObject>() {
        return Error::Rpc(error.clone());
    }
    if let Some(error) = known.downcast_ref::<mcp_wire::Error>() {
        return Error::Decode(error.clone());
    }
    Error::Internal(error.to_string())
}

impl<T: IntoToolResult, E: Display + 'static> IntoToolResult for Result<T, E> {
    fn into_tool_result(self) -> Result<mcp::CallToolOutcome, Error> {
        match self.map_err(service_error) {
            Ok(value) => value.into_tool_result(),
            Err(error) if error.is_of_the_protocol() => Err(error),
            Err(error) => Ok(fails(error.to_string()).into()),
        }
    }

    fn output_schema() -> Option<JsonObject> {
        T::output_schema()
    }
}

/// A value that a resource may be read as.
#[diagnostic::on_unimplemented(
    message = "a resource cannot be read as `{Self}`",
    label = "return `String`, `&'static str`, `Vec<u8>`, `mcp::ReadResourceResult`, or a `Result` of one of these",
    note = "the error of a `Result` implements `std::fmt::Display`; an `mcp_revisions::service::Error` has a code of its own"
)]
pub trait IntoContents {
    /// Returns the contents of the resource at this URI, which is of this type, if that is known.
    ///
    /// # Errors
    /// Returns the error of the call itself.
    fn into_contents(
        self,
        uri: String,
        mime_type: Option<String>,
    ) -> Result<mcp::ReadResourceOutcome, Error>;
}

impl IntoContents for String {
    fn into_contents(
        self,
        uri: String,
        mime_type: Option<String>,
    ) -> Result<mcp::ReadResourceOutcome, Error> {
        let mut contents = mcp::TextResourceContents::new(Uri(uri), self);
        contents.mime_type = mime_type;
        Ok(mcp::ReadResourceResult::new(vec![contents.into()]).into())
    }
}

impl IntoContents for &'static str {
    fn into_contents(
        self,
        uri: String,
        mime_type: Option<String>,
    ) -> Result<mcp::ReadResourceOutcome, Error> {
        self.to_owned().into_contents(uri, mime_type)
    }
}

impl IntoContents for Vec<u8> {
    fn into_contents(
        self,
        uri: String,
        mime_type: Option<String>,
    ) -> Result<mcp::ReadResourceOutcome, Error> {
        use base64::Engine;
        let blob = base64::engine::general_purpose::STANDARD.encode(self);
        let mut contents = mcp::BlobResourceContents::new(Uri(uri), blob);
        contents.mime_type = mime_type;
        Ok(mcp::ReadResourceResult::new(vec![contents.into()]).into())
    }
}

impl IntoContents for mcp::ReadResourceResult {
    fn into_contents(
        self,
        _: String,
        _: Option<String>,
    ) -> Result<mcp::ReadResourceOutcome, Error> {
        Ok(self.into())
    }
}

impl<T: IntoContents, E: Display + 'static> IntoContents for Result<T, E> {
    fn into_contents(
        self,
        uri: String,
        mime_type: Option<String>,
    ) -> Result<mcp::ReadResourceOutcome, Error> {
        self.map_err(service_error)?.into_contents(uri, mime_type)
    }
}

/// A value that a prompt may answer with.
#[diagnostic::on_unimplemented(
    message = "a prompt cannot answer with `{Self}`",
    label = "return `String`, `&'static str`, `Vec<mcp::PromptMessage>`, `mcp::GetPromptResult`, or a `Result` of one of these",
    note = "the error of a `Result` implements `std::fmt::Display`; an `mcp_revisions::service::Error` has a code of its own"
)]
pub trait IntoPromptResult {
    /// Returns the messages.
    ///
    /// # Errors
    /// Returns the error of the call itself.
    fn into_prompt_result(self) -> Result<mcp::GetPromptOutcome, Error>;
}

impl IntoPromptResult for String {
    fn into_prompt_result(self) -> Result<mcp::GetPromptOutcome, Error> {
        let message = mcp::PromptMessage::new(mcp::Role::User, mcp::TextContent::new(self));
        vec![message].into_prompt_result()
    }
}

impl IntoPromptResult for &'static str {
    fn into_prompt_result(self) -> Result<mcp::GetPromptOutcome, Error> {
        self.to_owned().into_prompt_result()
    }
}

impl IntoPromptResult for Vec<mcp::PromptMessage> {
    fn into_prompt_result(self) -> Result<mcp::GetPromptOutcome, Error> {
        Ok(mcp::GetPromptResult::new(self).into())
    }
}

impl IntoPromptResult for mcp::GetPromptResult {
    fn into_prompt_result(self) -> Result<mcp::GetPromptOutcome, Error> {
        Ok(self.into())
    }
}

impl<T: IntoPromptResult, E: Display + 'static> IntoPromptResult for Result<T, E> {
    fn into_prompt_result(self) -> Result<mcp::GetPromptOutcome, Error> {
        self.map_err(service_error)?.into_prompt_result()
    }
}

/// A value that a completion may answer with.
#[diagnostic::on_unimplemented(
    message = "a completion cannot answer with `{Self}`",
    label = "return `Vec<String>`, `Vec<&str>`, or a `Result` of one of these",
    note = "the error of a `Result` implements `std::fmt::Display`; an `mcp_revisions::service::Error` has a code of its own"
)]
pub trait IntoValues {
    /// Returns the values.
    ///
    /// # Errors
    /// Returns the error of the call itself.
    fn into_values(self) -> Result<Vec<String>, Error>;
}

impl<T: Into<String>> IntoValues for Vec<T> {
    fn into_values(self) -> Result<Vec<String>, Error> {
        Ok(self.into_iter().map(Into::into).collect())
    }
}

impl<T: IntoValues, E: Display + 'static> IntoValues for Result<T, E> {
    fn into_values(self) -> Result<Vec<String>, Error> {
        self.map_err(service_error)?.into_values()
    }
}
