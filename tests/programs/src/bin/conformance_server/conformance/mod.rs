//! What the conformance suite uses, by area.

mod prompts;
mod questions;
mod resources;
mod rounds;
mod tasks;
mod tools;

use mcp_revisions::Latest;
use mcp_revisions::args::MimeType;
use mcp_revisions::latest as mcp;
use mcp_revisions::service::router::Changes;
use mcp_revisions::service::{McpServer, Router, ServeError};

/// The server, for every revision.
pub(crate) fn server(changes: &Changes) -> Result<McpServer<Latest>, ServeError> {
    let router = Router::new().with_changes(changes);
    let router = tools::register(router, changes);
    let router = questions::register(router);
    let router = rounds::register(router);
    let router = resources::register(router);
    let router = tasks::register(router).skills(SKILLS);
    let server = prompts::register(router).build("conformance", "1.0.0")?;
    // Replicas need the same one.
    Ok(server.with_request_state_key([7; 32]))
}

/// The skills that it serves.
const SKILLS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/skills");

/// What each tool and prompt says of itself.
const WHAT: &str = "For the conformance suite.";

/// One red pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

fn image() -> mcp::ImageContent {
    mcp::ImageContent::new(PIXEL, MimeType("image/png"))
}

/// A resource within other content.
fn embedded(uri: impl Into<String>, mime_type: &str, text: &str) -> mcp::EmbeddedResource {
    let contents = mcp::TextResourceContents::new(mcp_revisions::args::Uri(uri), text);
    mcp::EmbeddedResource::new(contents.with_mime_type(mime_type))
}
