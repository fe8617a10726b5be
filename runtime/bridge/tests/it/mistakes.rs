//! A server or a client that makes a mistake behind the bridge: it costs the part that is wrong, and is told.

use std::sync::{Arc, Mutex};

use mcp_bridge::{Bridge, ClientSettings, Service, Upstream};
use mcp_revisions::mcp_wire::Json;
use mcp_revisions::mcp_wire::service::Caller as _;
use mcp_revisions::service::client::Http;
use mcp_revisions::{
    Lifecycle, Revision,
    core::{Change, Severity},
};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use crate::client;

/// What a server sends for the results of its methods, and as its capabilities.
#[derive(Clone)]
pub(crate) struct Sends {
    revision: Revision,
    info: Value,
    pub(crate) capabilities: Value,
    results: Vec<(&'static str, Value)>,
    /// The params of each call that it got.
    calls: Arc<Mutex<Vec<Value>>>,
    /// What each client declared, as it came.
    pub(crate) declared: Arc<Mutex<Vec<Value>>>,
}

impl Sends {
    pub(crate) fn new(revision: Revision, results: Vec<(&'static str, Value)>) -> Self {
        Self {
            revision,
            info: json!({ "name": "odd", "version": "1" }),
            capabilities: json!({ "tools": {}, "prompts": {}, "resources": {} }),
            results,
            calls: Arc::default(),
            declared: Arc::default(),
        }
    }

    fn answer(&self, message: &Value) -> Value {
        let method = message["method"].as_str().unwrap_or_default();
        if method == "tools/call" {
            self.calls.lock().unwrap().push(message["params"].clone());
        }
        let params = &message["params"];
        let declared = [
            &params["capabilities"],
            &params["_meta"]["io.modelcontextprotocol/clientCapabilities"],
        ];
        let declared = declared.into_iter().filter(|one| !one.is_null());
        self.declared.lock().unwrap().extend(declared.cloned());
        let version = self.revision.protocol_version();
        let is_handshake = self.revision.lifecycle() == Lifecycle::Handshake;
        let result = match method {
            "initialize" if is_handshake => Some(json!({
                "protocolVersion": version,
                "capabilities": self.capabilities,
                "serverInfo": self.info,
            })),
            "server/discover" if !is_handshake => Some(json!({
                "resultType": "complete",
                "supportedVersions": [version],
                "capabilities": self.capabilities,
            })),
            _ => (self.results.iter())
                .find(|(of, _)| *of == method)
                .map(|(_, result)| result.clone()),
        };
        let id = &message["id"];
        match result {
            Some(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            None => {
                let error = json!({ "code": -32601, "message": "no such method" });
                json!({ "jsonrpc": "2.0", "id": id, "error": error })
            }
        }
    }

    pub(crate) fn upstream(&self) -> Upstream {
        let sends = self.clone();
        Upstream::streams("odd", move || {
            let (ours, theirs) = (tokio::io::duplex(1 << 16), tokio::io::duplex(1 << 16));
            let sends = sends.clone();
            let (input, mut output) = (ours.0, theirs.0);
            tokio::spawn(async move {
                let mut lines = BufReader::new(input).lines();
                while let Ok(Some(line)) = lines.next_line().await {
                    let message: Value = serde_json::from_str(&line).unwrap();
                    if message["id"].is_null() {
                        continue;
                    }
                    let answer = format!("{}\n", sends.answer(&message));
                    if output.write_all(answer.as_bytes()).await.is_err() {
                        break;
                    }
                }
            });
            std::future::ready(Ok((theirs.1, ours.1)))
        })
    }

    /// A bridge before it, and what it tells of mistakes: pointer, entry and change.
    fn bridged(&self) -> (Service, Told) {
        let (bridge, told) = self.bridge();
        (bridge.into_service(), told)
    }

    fn bridge(&self) -> (Bridge, Told) {
        let told = Told::default();
        let tells = Arc::clone(&told);
        let bridge = Bridge::new(self.upstream()).with_clients(ClientSettings::new().on_loss(
            move |report| {
                for loss in report.losses {
                    if loss.severity() == Severity::Invalid {
                        assert_eq!(loss.rule(), "invalid-in-source");
                        let part = loss.part().unwrap_or_default().to_owned();
                        let row = (loss.pointer(), part, loss.change);
                        tells.lock().unwrap().push(row);
                    }
                }
            },
        ));
        (bridge, told)
    }
}

type Told = Arc<Mutex<Vec<(String, String, Change)>>>;

async fn asked(
    service: &Service,
    revision: Revision,
    method: &'static str,
    params: Value,
) -> Result<Value, String> {
    let client = client(revision).http(Http::in_process(service.clone()));
    let answer = client.request(method, Some(Json::from(params))).await;
    client.close().await.unwrap();
    match answer {
        Ok(result) => Ok(result.parse().unwrap()),
        Err(error) => Err(error.to_string()),
    }
}

/// The revisions of clients whose messages are converted before a server of this one.
fn others(server: Revision) -> impl Iterator<Item = Revision> {
    let all = Revision::NEGOTIATED.iter().copied();
    all.filter(move |client| *client != server)
}

const OLD: Revision = Revision::V2025_06_18;

#[tokio::test]
async fn one_bad_tool_does_not_hide_the_good_ones() {
    let good = json!({ "name": "good", "inputSchema": { "type": "object" } });
    for (bad, pointer, part) in [
        (
            json!({ "name": "now", "inputSchema": null }),
            "/tools/1",
            "tool `now`",
        ),
        (json!({ "name": "now" }), "/tools/1", "tool `now`"),
        (json!(null), "/tools/1", ""),
        (json!([]), "/tools/1", ""),
        (
            json!({ "name": "now", "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": "true" } }),
            "/tools/1/annotations/readOnlyHint",
            "tool `now`",
        ),
    ] {
        let list = json!({ "tools": [good, bad, good] });
        let sends = Sends::new(OLD, vec![("tools/list", list)]);
        for revision in others(OLD) {
            let (service, told) = sends.bridged();
            let list = asked(&service, revision, "tools/list", json!({}))
                .await
                .unwrap();
            let tools = list["tools"].as_array().unwrap();
            let count = tools.iter().filter(|tool| tool["name"] == "good").count();
            assert_eq!(count, 2, "{revision}: {list}");
            let told = told.lock().unwrap().clone();
            let removed = match bad {
                Value::Array(_) => told.iter().any(|(place, ..)| place == pointer),
                _ => told == [(pointer.to_owned(), part.to_owned(), Change::Removed)],
            };
            assert!(removed, "{revision}, {bad}: {told:?}");
            service.shutdown().await;
        }
    }
}

#[tokio::test]
async fn a_null_list_is_an_empty_one() {
    {
        let list = json!({ "resources": null });
        let sends = Sends::new(OLD, vec![("resources/list", list.clone())]);
        for revision in others(OLD) {
            let (service, told) = sends.bridged();
            let answer = asked(&service, revision, "resources/list", json!({})).await;
            assert_eq!(
                answer.unwrap()["resources"],
                json!([]),
                "{revision}, {list}"
            );
            assert_eq!(told.lock().unwrap().len(), 1, "{revision}, {list}");
            service.shutdown().await;
        }
    }
}

#[tokio::test]
async fn a_server_without_cache_hints_gives_its_lists_to_older_clients() {
    let tools = json!([{ "name": "sum", "inputSchema": { "type": "object" } }]);
    for list in [
        json!({ "resultType": "complete", "tools": tools }),
        json!({ "resultType": null, "tools": tools, "ttlMs": null, "cacheScope": "everybody" }),
        json!({ "tools": tools, "ttlMs": "soon", "cacheScope": null }),
    ] {
        let sends = Sends::new(Revision::LATEST, vec![("tools/list", list.clone())]);
        for revision in others(Revision::LATEST) {
            let (service, _) = sends.bridged();
            let answer = asked(&service, revision, "tools/list", json!({})).await;
            assert_eq!(
                answer.unwrap()["tools"][0]["name"],
                "sum",
                "{revision}, {list}"
            );
            service.shutdown().await;
        }
    }
}

#[tokio::test]
async fn capabilities_that_are_true_or_an_empty_array_stay_declared() {
    let mut sends = Sends::new(OLD, Vec::new());
    sends.capabilities = json!({ "tools": true, "prompts": [], "logging": false, "resources": { "subscribe": "yes" }, "experimental": { "x": true, "y": 1 } });
    for revision in others(OLD) {
        let (service, told) = sends.bridged();
        let client = client(revision).http(Http::in_process(service.clone()));
        let _ = client.request("tools/list", None).await;
        let facts = client.server().unwrap();
        let facts = facts.capabilities.unwrap();
        let declared: Value = facts.parse().unwrap();
        for name in ["tools", "prompts", "resources"] {
            assert!(declared[name].is_object(), "{revision}: {declared}");
        }
        assert!(declared["logging"].is_null(), "{revision}: {declared}");
        assert_eq!(declared["experimental"], json!({ "x": {} }), "{revision}");
        client.close().await.unwrap();
        let told = told.lock().unwrap().clone();
        for place in [
            "tools",
            "prompts",
            "logging",
            "resources/subscribe",
            "experimental/x",
            "experimental/y",
        ] {
            let place = format!("/capabilities/{place}");
            let is_it = |(pointer, ..): &&(String, String, Change)| *pointer == place;
            assert!(
                told.iter().any(|row| is_it(&row)),
                "{revision}, {place}: {told:?}"
            );
        }
        service.shutdown().await;
    }
}

/// The bridge makes up a name or a version of a server only for clients that require one, and keeps those that the server gives.
#[tokio::test]
async fn a_server_is_introduced_by_its_own_name_or_by_none_where_none_is_needed() {
    let name = json!({ "name": "odd", "version": 7 });
    for (info, expected) in [
        (json!({ "name": "odd" }), ""),
        (name, "7"),
        (json!({ "name": "odd", "version": null }), ""),
    ] {
        let mut sends = Sends::new(OLD, vec![("tools/list", json!({ "tools": [] }))]);
        sends.info = info.clone();
        for revision in others(OLD) {
            let (service, told) = sends.bridged();
            let client = client(revision).http(Http::in_process(service.clone()));
            client.request("tools/list", None).await.unwrap();
            let found: Value = client.server().unwrap().info.unwrap().parse().unwrap();
            assert_eq!(found["name"], "odd", "{revision}, {info}: {found}");
            assert_eq!(found["version"], expected, "{revision}, {info}: {found}");
            client.close().await.unwrap();
            assert!(!told.lock().unwrap().is_empty(), "{revision}, {info}");
            service.shutdown().await;
        }
    }
    let list =
        json!({ "resultType": "complete", "tools": [], "ttlMs": 0, "cacheScope": "private" });
    let sends = Sends::new(Revision::LATEST, vec![("tools/list", list)]);
    for revision in Revision::NEGOTIATED {
        let (service, _) = sends.bridged();
        let client = client(*revision).http(Http::in_process(service.clone()));
        client.request("tools/list", None).await.unwrap();
        let info = client.server().unwrap().info.map(|info| info.to_string());
        let is_named = revision.lifecycle() == Lifecycle::Handshake;
        assert_eq!(info.is_some(), is_named, "{revision}: {info:?}");
        let result = client.server().unwrap().result.unwrap();
        let meta = result.get("_meta").map(|meta| meta.to_string());
        assert_eq!(meta, None, "{revision}");
        client.close().await.unwrap();
        service.shutdown().await;
    }
}

#[tokio::test]
async fn structured_content_of_another_kind_does_not_cost_the_result() {
    for structured in [json!([1, 2]), json!("seven"), json!(7)] {
        let result = json!({ "structuredContent": structured });
        let sends = Sends::new(OLD, vec![("tools/call", result)]);
        for revision in others(OLD) {
            let (service, told) = sends.bridged();
            let answer = asked(&service, revision, "tools/call", json!({ "name": "x" })).await;
            let answer = answer.unwrap().to_string();
            let text = structured.to_string().replace('"', "");
            assert!(answer.contains(&text), "{revision}: {answer}");
            assert_eq!(
                told.lock().unwrap().len(),
                2,
                "content and structuredContent"
            );
            service.shutdown().await;
        }
    }
}

#[tokio::test]
async fn a_text_or_a_single_block_in_place_of_a_list_arrives_as_the_block() {
    let (text, block) = (
        "hello \"_\"",
        json!({ "type": "text", "text": "hello \"_\"" }),
    );
    let contents = json!({ "uri": "a:b", "text": text });
    let message = json!({ "role": "user", "content": text });
    for (method, result, whole) in [
        ("tools/call", json!({ "content": text }), "/content"),
        ("tools/call", json!({ "content": block }), "/content"),
        ("tools/call", json!({ "content": [text] }), "/content/0"),
        (
            "resources/read",
            json!({ "contents": contents }),
            "/contents",
        ),
        (
            "prompts/get",
            json!({ "messages": [message] }),
            "/messages/0/content",
        ),
        ("prompts/get", json!({ "messages": message }), "/messages"),
    ] {
        let sends = Sends::new(OLD, vec![(method, result.clone())]);
        for revision in others(OLD) {
            let (service, told) = sends.bridged();
            let params = json!({ "name": "x", "uri": "a:b" });
            let answer = asked(&service, revision, method, params).await.unwrap();
            let found = match method {
                "tools/call" => &answer["content"][0]["text"],
                "prompts/get" => &answer["messages"][0]["content"]["text"],
                _ => &answer["contents"][0]["text"],
            };
            assert_eq!(*found, text, "{revision}, {result}: {answer}");
            let told = told.lock().unwrap().clone();
            let is_told = told
                .iter()
                .any(|(place, _, change)| place == whole && *change == Change::Replaced);
            assert!(is_told, "{revision}, {result}: {told:?}");
            service.shutdown().await;
        }
    }
}

#[tokio::test]
async fn an_error_says_that_the_mistake_is_the_servers_and_in_which_part() {
    let message = json!({ "role": "user", "content": { "type": "text" } });
    for (method, result, says) in [
        (
            "tools/call",
            json!({ "content": "hello", "isError": "so" }),
            "/isError",
        ),
        (
            "tools/call",
            json!({ "content": [{ "type": "json", "json": 1 }] }),
            "/content/0/type",
        ),
        (
            "prompts/get",
            json!({ "messages": [message] }),
            "/messages/0/content",
        ),
    ] {
        let sends = Sends::new(OLD, vec![(method, result)]);
        for revision in others(OLD) {
            let (service, _) = sends.bridged();
            let refused = asked(&service, revision, method, json!({ "name": "x" })).await;
            let refused = refused.unwrap_err();
            let whose = format!("the server's result of `{method}` is not valid: ");
            assert!(refused.contains(&whose), "{revision}: {refused}");
            assert!(refused.contains(says), "{revision}: {refused}");
            service.shutdown().await;
        }
    }
}

#[tokio::test]
async fn arguments_of_a_client_are_an_object_or_refused_as_its_mistake() {
    let sends = Sends::new(
        Revision::V2025_11_25,
        vec![("tools/call", json!({ "content": [] }))],
    );
    let call = |params: Value| json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    for (params, pointer) in [
        (json!({ "name": "x", "arguments": [] }), "/arguments"),
        (
            json!({ "name": "x", "arguments": {}, "_meta": [] }),
            "/_meta",
        ),
    ] {
        let (bridge, told) = sends.bridge();
        let answer = posted(bridge, OLD, &call(params)).await;
        assert!(answer["result"].is_object(), "{answer}");
        let calls = std::mem::take(&mut *sends.calls.lock().unwrap());
        assert_eq!(calls[0]["arguments"], json!({}));
        let told = told.lock().unwrap().clone();
        assert_eq!(
            told,
            [(pointer.to_owned(), String::new(), Change::Replaced)]
        );
    }
    let (bridge, _) = sends.bridge();
    let answer = posted(
        bridge,
        OLD,
        &call(json!({ "name": "x", "arguments": "all" })),
    )
    .await;
    let message = answer["error"]["message"].as_str().unwrap_or_default();
    let whose = "the client's params of `tools/call` are not valid: at /arguments: expected";
    assert!(message.starts_with(whose), "{answer}");
    assert!(sends.calls.lock().unwrap().is_empty());
}

#[tokio::test]
async fn between_equal_revisions_nothing_is_looked_at() {
    let list = json!({ "tools": [null, { "name": 5 }], "nextCursor": 7 });
    let sends = Sends::new(OLD, vec![("tools/list", list.clone())]);
    let (bridge, told) = sends.bridge();
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let answer = posted(bridge, OLD, &request).await;
    assert_eq!(answer["result"], list);
    assert!(told.lock().unwrap().is_empty());
}

/// The answer to a request of a client that opens a session in a handshake revision.
async fn posted(bridge: Bridge, revision: Revision, request: &Value) -> Value {
    let (near, far) = tokio::io::duplex(1 << 16);
    let (input, output) = tokio::io::split(far);
    let serves = tokio::spawn(bridge.serve_stdio(input, output, std::future::pending()));
    let (read, mut write) = tokio::io::split(near);
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": revision.protocol_version(), "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } } });
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    for message in [&hello, &ready, request] {
        let line = format!("{message}\n");
        write.write_all(line.as_bytes()).await.unwrap();
    }
    let mut lines = BufReader::new(read).lines();
    let answer = loop {
        let line = lines.next_line().await.unwrap().unwrap();
        let message: Value = serde_json::from_str(&line).unwrap();
        if message["id"] == request["id"] {
            break message;
        }
    };
    serves.abort();
    answer
}
