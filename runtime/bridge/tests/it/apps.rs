//! Apps through the bridge: whatever revisions client and server speak, the client gets all that the server says of its views,
//! and each side learns that the other one knows apps.

use mcp_bridge::Bridge;
use mcp_revisions::Revision;
use mcp_revisions::mcp_wire::Json;
use mcp_revisions::mcp_wire::service::Caller as _;
use mcp_revisions::service::client::Http;
use serde_json::{Value, json};

use crate::client;
use crate::mistakes::Sends;

const APPS: &str = "io.modelcontextprotocol/ui";
const PAGE: &str = "ui://weather/dashboard";
const KIND: &str = "text/html;profile=mcp-app";

/// What a server says of a page.
fn of_page() -> Value {
    json!({ "ui": {
        "csp": { "connectDomains": ["https://api.example.com"] },
        "permissions": { "geolocation": {} },
        "prefersBorder": true,
        "vendor": 1,
    } })
}

/// What a server says of a tool; an older form of it stands beside.
fn of_tool(visibility: &[&str]) -> Value {
    json!({
        "ui": { "resourceUri": PAGE, "visibility": visibility },
        "ui/resourceUri": PAGE,
    })
}

fn results() -> Vec<(&'static str, Value)> {
    let tool = |name: &str, visibility: &[&str]| json!({ "name": name, "inputSchema": { "type": "object" }, "_meta": of_tool(visibility) });
    let tools = [
        tool("weather", &["model", "app"]),
        tool("refresh", &["app"]),
    ];
    let page = json!({ "uri": PAGE, "name": "dashboard", "mimeType": KIND, "_meta": of_page() });
    let text =
        json!({ "uri": PAGE, "mimeType": KIND, "text": "<!DOCTYPE html>", "_meta": of_page() });
    let lasts = json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": "private" });
    let result = |member: &str, list: Value| {
        let mut result = lasts.clone();
        result[member] = list;
        result
    };
    let mut called = result("content", json!([{ "type": "text", "text": "sunny" }]));
    called["_meta"] = json!({ "ui": { "at": "noon" } });
    vec![
        ("tools/list", result("tools", json!(tools))),
        ("resources/list", result("resources", json!([page]))),
        ("resources/read", result("contents", json!([text]))),
        ("tools/call", called),
    ]
}

#[tokio::test]
async fn a_host_gets_all_of_an_app_from_a_server_of_any_revision() {
    for upstream in Revision::NEGOTIATED {
        let mut sends = Sends::new(*upstream, results());
        sends.capabilities = json!({
            "tools": {}, "resources": {}, "extensions": { APPS: {}, "com.example/charts": { "depth": 2 } },
        });
        for revision in Revision::NEGOTIATED {
            let pair = format!("client {revision}, server {upstream}");
            let service = Bridge::new(sends.upstream()).into_service();
            let declared = json!({ "extensions": { APPS: { "mimeTypes": [KIND] } } });
            let client = client(*revision).with_capabilities(&Json::from(declared.clone()));
            let client = client.http(Http::in_process(service.clone()));
            let get = async |method: &'static str, params: Value| -> Value {
                let result = client.request(method, Some(Json::from(params))).await;
                let result = result.unwrap_or_else(|error| panic!("{pair}, {method}: {error}"));
                result.parse().unwrap()
            };
            let tools = get("tools/list", json!({})).await;
            assert_eq!(
                tools["tools"][0]["_meta"],
                of_tool(&["model", "app"]),
                "{pair}"
            );
            assert_eq!(tools["tools"][1]["_meta"], of_tool(&["app"]), "{pair}");
            let pages = get("resources/list", json!({})).await;
            assert_eq!(pages["resources"][0]["uri"], PAGE, "{pair}");
            assert_eq!(pages["resources"][0]["mimeType"], KIND, "{pair}");
            assert_eq!(pages["resources"][0]["_meta"], of_page(), "{pair}");
            let page = get("resources/read", json!({ "uri": PAGE })).await;
            assert_eq!(page["contents"][0]["_meta"], of_page(), "{pair}");
            assert_eq!(page["contents"][0]["mimeType"], KIND, "{pair}");
            // A view may call a tool that the model does not see: the bridge hides none.
            let called = get("tools/call", json!({ "name": "refresh", "arguments": {} })).await;
            assert_eq!(called["_meta"]["ui"]["at"], "noon", "{pair}");
            let server = client.server().unwrap().capabilities.unwrap();
            let server: Value = server.parse().unwrap();
            assert_eq!(server["extensions"][APPS], json!({}), "{pair}: {server}");
            let other = &server["extensions"]["com.example/charts"];
            assert_eq!(*other, json!({ "depth": 2 }), "{pair}: {server}");
            client.close().await.unwrap();
            service.shutdown().await;
            let heard = std::mem::take(&mut *sends.declared.lock().unwrap());
            assert!(!heard.is_empty(), "{pair}");
            for one in heard {
                let apps = &one["extensions"][APPS];
                assert_eq!(*apps, declared["extensions"][APPS], "{pair}: {one}");
            }
        }
    }
}
