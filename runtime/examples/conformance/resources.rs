//! Resources: one text, one binary, one from a template.

use mcp_revisions::mcp_wire::{ErrorObject, Json};
use serde_json::{Value, json};

use super::{PIXEL, cached, invalid};

pub(super) fn list() -> Value {
    let text = json!({"uri": "test://static-text", "name": "text", "description": "A text.", "mimeType": "text/plain"});
    let binary = json!({"uri": "test://static-binary", "name": "binary", "description": "An image.", "mimeType": "image/png"});
    let watched = json!({"uri": "test://watched-resource", "name": "watched", "description": "A resource to subscribe to.", "mimeType": "text/plain"});
    cached("resources", json!([text, binary, watched]))
}

pub(super) fn templates() -> Value {
    let template = json!({"uriTemplate": "test://template/{id}/data", "name": "template",
        "description": "Data of an id.", "mimeType": "application/json"});
    cached("resourceTemplates", json!([template]))
}

pub(super) fn read(params: &Value) -> Result<Value, ErrorObject> {
    let uri = params["uri"].as_str().unwrap_or_default();
    let id = uri
        .strip_prefix("test://template/")
        .and_then(|rest| rest.strip_suffix("/data"));
    let contents = match (uri, id) {
        ("test://static-text", _) => {
            json!({"uri": uri, "mimeType": "text/plain", "text": "This is the content of the static text resource."})
        }
        ("test://static-binary", _) => json!({"uri": uri, "mimeType": "image/png", "blob": PIXEL}),
        ("test://watched-resource", _) => {
            json!({"uri": uri, "mimeType": "text/plain", "text": "Watched."})
        }
        (_, Some(id)) => {
            let text =
                json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
            json!({"uri": uri, "mimeType": "application/json", "text": text.to_string()})
        }
        _ => {
            let data = Json::from(json!({"uri": uri}));
            return Err(invalid("Resource not found").with_data(data));
        }
    };
    Ok(cached("contents", json!([contents])))
}
