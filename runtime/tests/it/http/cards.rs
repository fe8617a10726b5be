//! Server cards: what a service publishes, and what a client makes of the cards of others.

use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use mcp_revisions::core::extensions::server_card::ServerCard;
use mcp_revisions::http::{Body, Options, ProtectedResource, ResourceGuard, Service, TokenRefusal};
use mcp_revisions::mcp_wire::{self, Json};
use mcp_revisions::service::Client;
use mcp_revisions::service::client::Http;
use mcp_revisions::{Lifecycle, Revision, RevisionSet, Router, Server, program};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tower::ServiceExt as _;

use crate::http::{Post, body};

const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json";
const URL: &str = "https://mcp.example.com/mcp";

fn service(served: RevisionSet, options: Options) -> Service {
    let server = Server::new(&program!()).with_revisions(served);
    let router = Router::new().tool("sky", "Says it.", || async { "blue" });
    let server = router.build_with(server).unwrap();
    server.into_http_service(options)
}

fn publishing() -> Options {
    Options::new().with_server_card(URL).unwrap()
}

async fn get(service: &Service, method: Method, path: &str, tag: Option<&str>) -> Response<Body> {
    let mut request = Request::builder().method(method).uri(path);
    if let Some(tag) = tag {
        request = request.header("if-none-match", tag);
    }
    // No host that is served: a card is for everybody.
    let request = request.header("host", "elsewhere.example");
    let request = request.body(Full::new(Bytes::new())).unwrap();
    service.clone().oneshot(request).await.unwrap()
}

/// Returns whether a text is a card by the published schema.
fn is_card(text: &str) -> bool {
    let file = "../spec/extensions/server-card/v1/schema.json";
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let mut schema: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    schema["$ref"] = json!("#/$defs/ServerCard");
    let judge = jsonschema::draft202012::new(&schema).unwrap();
    judge.is_valid(&serde_json::from_str(text).unwrap())
}

#[tokio::test]
async fn a_service_publishes_its_card_and_a_catalog_to_everybody() {
    let handshake = RevisionSet::handshake();
    for served in [RevisionSet::all(), handshake] {
        let service = service(served, publishing());
        let got = get(&service, Method::GET, "/mcp/server-card", None).await;
        assert_eq!(got.status(), StatusCode::OK);
        let headers = got.headers().clone();
        let text = body(got).await;
        assert!(is_card(&text), "{text}");
        let card: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(card["name"], "com.example.mcp/mcp-revisions", "{card}");
        assert_eq!(card["remotes"][0]["url"], URL);
        let versions = &card["remotes"][0]["supportedProtocolVersions"];
        assert_eq!(*versions, json!(served.protocol_versions()));
        for (name, value) in [
            ("content-type", "application/mcp-server-card+json"),
            ("access-control-allow-origin", "*"),
            ("access-control-expose-headers", "ETag"),
            ("cache-control", "public, max-age=3600"),
        ] {
            assert_eq!(headers[name], value);
        }
        let tag = headers["etag"].to_str().unwrap();
        let again = get(&service, Method::GET, "/mcp/server-card", Some(tag)).await;
        assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
        let got = get(&service, Method::GET, "/.well-known/ai-catalog.json", None).await;
        assert_eq!(got.headers()["content-type"], "application/ai-catalog+json");
        let catalog: Value = serde_json::from_str(&body(got).await).unwrap();
        let entry = json!({
            "identifier": "urn:air:mcp.example.com:mcp:mcp-revisions",
            "type": "application/mcp-server-card+json",
            "url": "https://mcp.example.com/mcp/server-card",
        });
        assert_eq!(catalog, json!({"specVersion": "1.0", "entries": [entry]}));
        for (method, status) in [
            (Method::OPTIONS, StatusCode::NO_CONTENT),
            (Method::POST, StatusCode::METHOD_NOT_ALLOWED),
        ] {
            let got = get(&service, method, "/mcp/server-card", None).await;
            assert_eq!(got.status(), status);
        }
    }
}

#[tokio::test]
async fn a_card_is_published_on_request_only_and_a_guard_protects_the_rest() {
    let guard = || {
        let resource = ProtectedResource::new(URL, "https://auth.example").unwrap();
        ResourceGuard::new(resource, |_: String| async {
            Err(TokenRefusal::Invalid("none is".to_owned()))
        })
    };
    let status = async |options: Options, path: &str| {
        let service = service(RevisionSet::all(), options.with_any_host());
        get(&service, Method::GET, path, None).await.status()
    };
    for path in ["/mcp/server-card", "/.well-known/ai-catalog.json"] {
        let closed = Options::new().with_path("/mcp");
        assert_eq!(status(closed, path).await, StatusCode::NOT_FOUND);
        let guarded = Options::new().with_guard(guard());
        assert_eq!(status(guarded, path).await, StatusCode::UNAUTHORIZED);
        let open = publishing().with_path("/mcp").with_guard(guard());
        assert_eq!(status(open, path).await, StatusCode::OK);
    }
    let open = service(RevisionSet::all(), publishing().with_guard(guard()));
    let listed = Post::per_request("tools/list", json!({})).to(&open).await;
    assert_eq!(listed.status(), StatusCode::UNAUTHORIZED);
    for wrong in [
        "mcp.example.com",
        "http://mcp.example.com/mcp",
        "https://a/?x",
    ] {
        assert!(Options::new().with_server_card(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn cards_of_the_published_kinds_are_read_and_written_without_loss_and_others_are_refused() {
    let with = |changes: &[(&str, Value)]| {
        let mut card = json!({
            "$schema": SCHEMA, "name": "org.example/least", "version": "0.1.0",
            "description": "Has what a card has to have.",
        });
        for (name, value) in changes {
            card[*name] = value.clone();
        }
        card
    };
    let remote = json!({
        "type": "streamable-http", "url": "https://{room}.example.org/mcp",
        "headers": [{
            "name": "X-Key", "isRequired": true, "isSecret": true, "value": "Key {key}",
            "variables": {"key": {"description": "The key.", "isSecret": true, "format": "string"}},
        }],
        "variables": {"room": {"default": "lobby", "choices": ["lobby", "hall"]}},
        "supportedProtocolVersions": ["2025-06-18"], "unknown": [1.50],
    });
    let mut valid = vec![
        with(&[]).to_string(),
        with(&[
            ("remotes", json!([remote])),
            ("title", json!("T")),
            ("_meta", json!({"a/b": 1})),
            (
                "icons",
                json!([{"src": "https://example.org/i.png", "theme": "dark"}]),
            ),
            (
                "repository",
                json!({"source": "github", "url": "https://example.org/r"}),
            ),
        ])
        .to_string(),
    ];
    let published =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/extensions/server-card");
    for name in ["minimal.json", "templated-remote.json"] {
        match std::fs::read_to_string(published.join(name)) {
            Ok(text) => valid.push(text),
            Err(why) => println!("skipped, the published example {name} is not here: {why}"),
        }
    }
    for text in valid {
        let card: ServerCard = mcp_wire::from_str(&text).unwrap();
        let written = Json::of(&card);
        let [own, other]: [Value; 2] =
            [&*text, written.text()].map(|text| serde_json::from_str(text).unwrap());
        assert_eq!(own, other);
    }
    let v2 = SCHEMA.replace("/v1/", "/v2/");
    let dated = SCHEMA.replace("/v1/", "/2026-01-01/");
    for (wrong, pointer) in [
        (with(&[("$schema", json!(v2))]), "/$schema"),
        (with(&[("$schema", json!(dated))]), "/$schema"),
        (with(&[("name", Value::Null)]), "/name"),
        (
            with(&[("remotes", json!([{"type": "pigeon", "url": "x"}]))]),
            "/remotes/0/type",
        ),
        (with(&[("remotes", json!([{"type": "sse"}]))]), "/remotes/0"),
    ] {
        let why = mcp_wire::from_str::<ServerCard>(&wrong.to_string()).unwrap_err();
        assert!(why.to_string().contains(pointer), "{why}");
    }
}

/// Serves `service` at an address of its own, and returns the origin.
async fn at_an_address(make: impl FnOnce(&str) -> Service) -> String {
    let listener = mcp_revisions::http::bind(("127.0.0.1", 0)).await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let service = make(&origin);
    tokio::spawn(mcp_revisions::http::serve(listener, service));
    origin
}

#[tokio::test]
async fn a_client_finds_the_endpoint_by_the_catalog_and_speaks_as_the_card_says() {
    let old = Revision::NEGOTIATED.iter().copied();
    let old = old
        .filter(|it| it.lifecycle() == Lifecycle::Handshake)
        .max();
    let only: RevisionSet = old.into_iter().collect();
    let origin = at_an_address(|origin| {
        let options = Options::new().with_server_card(format!("{origin}/mcp"));
        service(only, options.unwrap().with_path("/mcp"))
    })
    .await;
    let found = Http::new(&origin).unwrap().find().await.unwrap();
    assert_eq!(found.http.url().to_string(), format!("{origin}/mcp"));
    assert_eq!(found.http.likely_revisions(), only);
    assert!(found.card.is_some() && found.notes.is_empty(), "{found:?}");
    let client: Client = Client::builder(&program!()).http(found.http);
    let listed = mcp_revisions::latest::CallServer::list_tools(&client, None).await;
    assert_eq!(listed.unwrap().tools.len(), 1);
    // A URL with a path is an endpoint: nothing is asked.
    let there = Http::new("http://127.0.0.1:1/mcp").unwrap().find().await;
    let there = there.unwrap();
    assert!(there.card.is_none() && there.notes.is_empty());
}

/// Answers each request with one response, and returns the origin.
async fn always(response: String) -> String {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0))
        .await
        .unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let response = response.clone();
            tokio::spawn(async move {
                let mut request = [0; 4096];
                let _ = stream.read(&mut request).await;
                let _ = stream.write_all(response.as_bytes()).await;
            });
        }
    });
    format!("http://{address}")
}

#[tokio::test]
async fn a_catalog_that_cannot_be_used_is_told_once_and_leads_nowhere() {
    let ok = |kind: &str, body: &str| {
        let length = body.len();
        format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n{body}")
    };
    let catalog = "application/ai-catalog+json";
    let inline = |entries: Value| ok(catalog, &json!({"entries": entries}).to_string());
    let kind = "application/mcp-server-card+json";
    for (response, says) in [
        (
            "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_owned(),
            None,
        ),
        (ok("text/html", "<html>"), None),
        (ok(catalog, "{nope"), Some("it is not JSON")),
        (
            ok(catalog, &" ".repeat(300 << 10)),
            Some("longer than 262144 bytes"),
        ),
        (ok(catalog, "[]"), Some("`entries` is not a list")),
        (
            "HTTP/1.1 302 Found\r\nlocation: http://evil.example/\r\ncontent-length: 0\r\n\r\n"
                .to_owned(),
            Some("leads to http://evil.example/, of another origin"),
        ),
        (
            "HTTP/1.1 302 Found\r\nlocation: /again\r\ncontent-length: 0\r\n\r\n".to_owned(),
            Some("leads on more than 3 times"),
        ),
        (
            inline(json!([{"identifier": "a", "type": kind, "url": "http://evil.example/card"}])),
            Some("card `a` is not used: it is at http://evil.example/card, of another origin"),
        ),
        (
            inline(json!([{"identifier": "\u{1b}", "type": kind}])),
            Some("card `\\u{1b}` is not used: its entry needs either"),
        ),
        (
            inline(json!([{"identifier": "a", "type": "text/plain", "url": "/x"}])),
            None,
        ),
    ] {
        let origin = always(response.clone()).await;
        let looking = Http::new(&origin).unwrap().find();
        let found = tokio::time::timeout(Duration::from_secs(30), looking).await;
        let found = found.unwrap().unwrap();
        assert_eq!(found.http.url().to_string(), format!("{origin}/"));
        assert!(found.card.is_none() && found.http.likely_revisions().is_empty());
        match says {
            None => assert!(found.notes.is_empty(), "{:?}", found.notes),
            Some(says) => {
                let [note] = &found.notes[..] else {
                    panic!("{:?} of {response:.200}", found.notes);
                };
                assert!(note.contains(says), "{note}");
            }
        }
    }
}
