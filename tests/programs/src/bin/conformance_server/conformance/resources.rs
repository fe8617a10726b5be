//! Resources: a text, an image, one that changes, and those of a template.

use mcp_revisions::args::{Uri, UriTemplate};
use mcp_revisions::latest as mcp;
use mcp_revisions::service::Router;
use serde::Deserialize;
use serde_json::json;

use super::PIXEL;

/// The resource that is said to change.
pub(super) const WATCHED: &str = "test://watched-resource";
const BINARY: &str = "test://static-binary";

#[derive(Deserialize)]
struct Of {
    id: String,
}

pub(super) fn register(router: Router) -> Router {
    let resource = |uri, name, mime_type| {
        mcp::Resource::new(Uri(uri), name)
            .with_description("A resource.")
            .with_mime_type(mime_type)
    };
    let text = resource("test://static-text", "text", "text/plain");
    let binary = resource(BINARY, "binary", "image/png");
    let watched = resource(WATCHED, "watched", "text/plain");
    let template = mcp::ResourceTemplate::new(UriTemplate("test://template/{id}/data"), "template")
        .with_description("Data of an id.")
        .with_mime_type("application/json");
    router
        .resource_of(text, || async {
            "This is the content of the static text resource."
        })
        .resource_of(binary, || async {
            let blob = mcp::BlobResourceContents::new(Uri(BINARY), PIXEL);
            mcp::ReadResourceResult::new(vec![blob.with_mime_type("image/png").into()])
        })
        .resource_of(watched, || async { "Watched." })
        .resource_template_of(template, |Of { id }| async move {
            json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")})
                .to_string()
        })
}
