//! A guard before a service: what clients of each revision are told, which tokens pass, and what handlers see of them.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use mcp_revisions::Latest;
use mcp_revisions::backplane::Memory;
use mcp_revisions::http::{
    Body, Options, Principal, ProtectedResource, ResourceGuard, Service, TokenClaims, TokenRefusal,
};
use mcp_revisions::mcp_wire::JsonObject;
use mcp_revisions::service::{Error, RequestContext, Router};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::http::{PER_REQUEST, Post, VERSIONS, body, call, events, initialize, message};

const URL: &str = "https://mcp.example/mcp";
const ISSUER: &str = "https://auth.example";
const METADATA: &str = "https://mcp.example/.well-known/oauth-protected-resource/mcp";

/// Returns the claims of the tokens that there are.
async fn verify(token: String) -> Result<TokenClaims, TokenRefusal> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = now.unwrap().as_secs();
    let (minute, ago) = (now + 60, now - 1);
    let good = json!({"iss": ISSUER, "sub": "ada", "aud": URL, "scope": "read", "exp": minute});
    let with = |changes: Value| {
        let mut claims = good.clone();
        for (name, value) in changes.as_object().unwrap() {
            claims[name] = value.clone();
        }
        claims
    };
    let claims = match token.as_str() {
        "ada" => good,
        "alan" => with(json!({"sub": "alan", "scope": "write"})),
        "both" => with(json!({"scope": "read write"})),
        "admin" => with(json!({"scope": "admin"})),
        "slash" => {
            with(json!({"iss": "https://auth.example/", "aud": ["x", "https://mcp.example/mcp/"]}))
        }
        "opaque" => with(json!({"iss": null, "active": true, "exp": null})),
        "expired" => with(json!({"exp": ago})),
        "text-expiry" => with(json!({"exp": minute.to_string()})),
        "text-expired" => with(json!({"exp": ago.to_string()})),
        "ahead" => with(json!({"nbf": now + 10})),
        "early" => with(json!({"nbf": minute})),
        "username" => with(json!({"sub": null, "username": "ada", "client_id": "app"})),
        "client" => with(json!({"sub": null, "client_id": "app"})),
        "granted" => with(json!({"sub": null, "azp": "app", "gty": "client-credentials"})),
        "refresh" => with(json!({"token_type": "refresh_token"})),
        "keycloak-refresh" => with(json!({"typ": "Refresh"})),
        "id" => with(json!({"token_use": "id"})),
        "bound" => with(json!({"cnf": {"jkt": "x"}})),
        "odd-expiry" => with(json!({"exp": "tomorrow"})),
        "other-audience" => with(json!({"aud": "https://mcp.example/other"})),
        "no-audience" => with(json!({"aud": null})),
        "other-issuer" => with(json!({"iss": "https://evil.example"})),
        "inactive" => json!({"active": false}),
        "nameless" => with(json!({"sub": null})),
        "unavailable" => return Err(TokenRefusal::Unavailable("no route to 10.0.0.7".into())),
        "panic" => panic!("a verifier that fails"),
        _ => return Err(TokenRefusal::Invalid("no such \"token\"".into())),
    };
    let claims = JsonObject::from_text(&claims.to_string()).unwrap();
    Ok(TokenClaims::new(claims))
}

fn guard() -> ResourceGuard {
    let resource = ProtectedResource::new(URL, ISSUER).unwrap();
    ResourceGuard::new(resource.with_scopes(["read", "write"]), verify)
}

/// Returns what a handler sees of the caller.
async fn whoami(cx: RequestContext<Latest>) -> Result<String, Error> {
    let peer = cx.peer().unwrap();
    let claims = peer.extension::<TokenClaims>().unwrap();
    let Principal(principal) = peer.extension().unwrap();
    let token = peer.headers().unwrap().get("authorization");
    Ok(format!(
        "{principal}|{}|{token:?}",
        claims.scopes().join(",")
    ))
}

/// Sends progress before it finds out that it needs a scope.
async fn late(cx: RequestContext<Latest>) -> Result<String, Error> {
    cx.progress(1, 2).await;
    cx.require_scopes(["write"])?;
    Ok("written".to_owned())
}

fn service_with(options: Options) -> Service {
    let router = Router::new()
        .tool("whoami", "", whoami)
        .tool("write", "", || async { "written" })
        .with_scopes(["write"])
        .tool("late", "", late);
    let router = router.build("guarded", "1").unwrap();
    router.allow_host("mcp.example").into_http_service(options)
}

fn service() -> Service {
    service_with(Options::new().with_guard(guard()))
}

fn tool(name: &str) -> Post {
    Post::per_request("tools/call", json!({"name": name, "arguments": {}}))
}

fn by(post: Post, token: &str) -> Post {
    post.with("Authorization", &format!("Bearer {token}"))
}

fn challenge(response: &Response<Body>) -> &str {
    let value = response.headers().get("www-authenticate");
    value.map_or("", |value| value.to_str().unwrap())
}

async fn get(service: &Service, method: Method, path: &str, origin: &str) -> Response<Body> {
    let request = Request::builder().method(method).uri(path);
    let request = request.header("origin", origin);
    let request = request.body(Full::<Bytes>::default()).unwrap();
    service.clone().oneshot(request).await.unwrap()
}

#[tokio::test]
async fn a_client_of_any_revision_without_a_token_learns_where_to_sign_in() {
    let service = service();
    let plain = format!("Bearer resource_metadata=\"{METADATA}\"");
    let mut posts: Vec<Post> = VERSIONS.map(initialize).into();
    posts.push(tool("whoami"));
    posts.push(tool("whoami").with("Authorization", "Basic YTpi"));
    posts.push(tool("whoami").with("Authorization", "Bearer"));
    posts.push(tool("whoami").with("Authorization", "Bearer "));
    for post in posts {
        let response = post.to(&service).await;
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
        assert_eq!(challenge(&response), plain);
        assert_eq!(message(response).await["error"], "unauthorized");
    }
    for method in [Method::GET, Method::DELETE] {
        let post = Post::of(&json!({})).with("Mcp-Session-Id", "of-another");
        let request = post.request(method);
        let response = service.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
    }
    let guard = guard().with_required_scopes(["read", "write"]);
    let service = service_with(Options::new().with_guard(guard));
    let response = tool("whoami").to(&service).await;
    let scoped = format!("Bearer scope=\"read write\", resource_metadata=\"{METADATA}\"");
    assert_eq!(challenge(&response), scoped);
    let response = by(tool("whoami"), "ada").to(&service).await;
    assert_eq!(response.status(), StatusCode::FORBIDDEN);
    let expected = "Bearer error=\"insufficient_scope\", error_description=\"the access token lacks the scope write\", scope=\"read write\"";
    assert!(challenge(&response).starts_with(expected), "{response:?}");
    let response = by(tool("whoami"), "both").to(&service).await;
    assert_eq!(response.status(), StatusCode::OK);
}

#[tokio::test]
async fn a_token_passes_only_if_it_is_for_this_server_of_its_issuer_and_not_over() {
    let service = service();
    for token in [
        "ada",
        "slash",
        "opaque",
        "text-expiry",
        "ahead",
        "username",
        "granted",
    ] {
        let response = by(tool("whoami"), token).to(&service).await;
        assert_eq!(response.status(), StatusCode::OK, "{token}");
    }
    for (token, why) in [
        ("expired", "the access token has expired"),
        ("text-expired", "the access token has expired"),
        (
            "odd-expiry",
            "the access token has a time (`exp`, `nbf`) that is not a number",
        ),
        ("early", "the access token is not valid yet (`nbf`)"),
        ("client", "the access token names no subject"),
        (
            "refresh",
            "the token is a refresh token: send an access token",
        ),
        (
            "keycloak-refresh",
            "the token is a refresh token: send an access token",
        ),
        ("id", "the token is an ID token: send an access token"),
        (
            "bound",
            "the access token is bound to a key, whose proof is not checked here: get one that is not bound",
        ),
        ("other-audience", "the access token is for another resource"),
        ("no-audience", "the access token names no audience (`aud`)"),
        (
            "other-issuer",
            "the access token is of another authorization server",
        ),
        ("inactive", "the access token is not active"),
        ("nameless", "the access token names no subject"),
        ("unknown", "no such 'token'"),
    ] {
        let response = by(tool("whoami"), token).to(&service).await;
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{token}");
        let expected = format!(
            "Bearer error=\"invalid_token\", error_description=\"{why}\", resource_metadata=\"{METADATA}\""
        );
        assert_eq!(challenge(&response), expected, "{token}");
    }
    for token in ["unavailable", "panic"] {
        let response = by(tool("whoami"), token).to(&service).await;
        assert_eq!(
            response.status(),
            StatusCode::SERVICE_UNAVAILABLE,
            "{token}"
        );
        assert_eq!(challenge(&response), "", "signing in again would not help");
        assert!(response.headers().contains_key("retry-after"));
        let text = body(response).await;
        assert!(
            !text.contains("10.0.0.7"),
            "the cause is for operators: {text}"
        );
    }
}

#[tokio::test]
async fn a_session_belongs_to_the_person_and_not_to_the_client_that_people_share() {
    let resource = ProtectedResource::new(URL, ISSUER).unwrap();
    let guard = ResourceGuard::new(resource.without_audience(), |name: String| async move {
        // The claims of an introspection endpoint without `sub` and `aud`.
        let claims = json!({"active": true, "username": name, "client_id": "app"});
        Ok(TokenClaims::new(
            JsonObject::from_text(&claims.to_string()).unwrap(),
        ))
    });
    let service = service_with(Options::new().with_guard(guard));
    let opened = by(initialize("2025-11-25"), "ada").to(&service).await;
    let session = opened.headers()["mcp-session-id"].to_str().unwrap();
    for (token, status) in [("ada", StatusCode::OK), ("bob", StatusCode::NOT_FOUND)] {
        let post = by(Post::of(&call("whoami", json!({}))), token);
        let response = post.with("Mcp-Session-Id", session).to(&service).await;
        assert_eq!(response.status(), status, "{token}");
    }
    let service = service_with(Options::new().with_guard(self::guard().with_client_tokens()));
    let response = by(tool("whoami"), "client").to(&service).await;
    let text = body(response).await;
    assert!(text.contains("client https://auth.example app|"), "{text}");
}

#[tokio::test]
async fn a_token_in_the_url_or_beside_another_one_is_a_bad_request() {
    let service = service();
    let mut request = by(tool("whoami"), "ada").request(Method::POST);
    let second = "Bearer alan".parse().unwrap();
    request.headers_mut().append("authorization", second);
    let response = service.clone().oneshot(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    assert!(challenge(&response).contains("error=\"invalid_request\""));
    let mut request = tool("whoami").request(Method::POST);
    *request.uri_mut() = "/mcp?x=1&access_token=ada".parse().unwrap();
    let response = service.clone().oneshot(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    let response = by(tool("whoami"), "a\"b").to(&service).await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn handlers_see_who_calls_and_not_the_token() {
    let response = by(tool("whoami"), "ada").to(&service()).await;
    let answer = message(response).await;
    let text = &answer["result"]["content"][0]["text"];
    assert_eq!(*text, "https://auth.example ada|read|None");
}

#[tokio::test]
async fn metadata_can_be_read_by_any_page_without_a_token() {
    let options = Options::new().with_path("/mcp").with_health("/healthz");
    let server = json!({"issuer": ISSUER});
    let guard = guard().with_server_metadata(server.clone().into());
    let service = service_with(options.with_guard(guard));
    let evil = "https://evil.example";
    for path in [
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-protected-resource",
    ] {
        let response = get(&service, Method::GET, path, evil).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        assert_eq!(response.headers()["access-control-allow-origin"], "*");
        let document = message(response).await;
        let expected = json!({
            "resource": URL,
            "authorization_servers": [ISSUER],
            "bearer_methods_supported": ["header"],
            "scopes_supported": ["read", "write"],
        });
        assert_eq!(document, expected);
        let response = get(&service, Method::POST, path, evil).await;
        assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
        let response = get(&service, Method::OPTIONS, path, evil).await;
        assert_eq!(response.status(), StatusCode::NO_CONTENT);
    }
    // The way of 2025-03-26.
    let path = "/.well-known/oauth-authorization-server";
    let response = get(&service, Method::GET, path, evil).await;
    assert_eq!(message(response).await, server);
    let here = "http://localhost";
    let response = get(&crate::http::guard::service(), Method::GET, path, here).await;
    assert_eq!(
        response.status(),
        StatusCode::UNAUTHORIZED,
        "off by default"
    );
    for (path, status) in [("/healthz", 200), ("/other", 404), ("/mcp", 401)] {
        let response = get(&service, Method::GET, path, here).await;
        assert_eq!(response.status(), status, "{path}");
    }
    let response = get(&service, Method::GET, "/mcp", evil).await;
    assert_eq!(
        response.status(),
        StatusCode::FORBIDDEN,
        "its origin is refused first"
    );
}

#[tokio::test]
async fn a_page_may_read_the_challenge_and_ask_before_it_has_a_token() {
    let app = "https://app.example";
    let options = Options::new().allow_origin(app).with_cors();
    let service = service_with(options.with_guard(guard()));
    let response = get(&service, Method::OPTIONS, "/mcp", app).await;
    assert_eq!(response.status(), StatusCode::NO_CONTENT);
    for (token, status) in [("", 401), ("ada", 403)] {
        let post = by(tool("write"), token).with("Origin", app);
        let response = post.to(&service).await;
        assert_eq!(response.status(), status);
        assert_eq!(response.headers()["access-control-allow-origin"], app);
        let readable = response.headers()["access-control-expose-headers"].to_str();
        assert!(readable.unwrap().contains("WWW-Authenticate"));
    }
}

#[tokio::test]
async fn a_call_without_the_scope_of_its_tool_is_stepped_up_as_its_revision_does() {
    let service = service();
    let response = by(tool("write"), "ada").to(&service).await;
    assert_eq!(response.status(), StatusCode::FORBIDDEN);
    let lacks = "error=\"insufficient_scope\", error_description=\"the access token lacks the scope write\"";
    let expected = format!("Bearer {lacks}, scope=\"write\", resource_metadata=\"{METADATA}\"");
    assert_eq!(
        challenge(&response),
        expected,
        "{PER_REQUEST} unites scopes"
    );
    let data = message(response).await["error"]["data"].clone();
    let expected = json!({"reason": "insufficient-scope", "resource": URL, "scope": "write"});
    assert_eq!(data, expected);
    let response = by(tool("write"), "alan").to(&service).await;
    assert_eq!(response.status(), StatusCode::OK);

    for version in VERSIONS {
        let opened = by(initialize(version), "ada").to(&service).await;
        assert_eq!(opened.status(), StatusCode::OK, "{version}");
        let session = opened.headers()["mcp-session-id"].to_str().unwrap();
        let written = |token| {
            let post = by(Post::of(&call("write", json!({}))), token);
            let post = post.with("Mcp-Session-Id", session);
            post.with("MCP-Protocol-Version", version)
        };
        let response = written("ada").to(&service).await;
        assert_eq!(response.status(), StatusCode::FORBIDDEN, "{version}");
        let both = challenge(&response).contains("scope=\"read write\"");
        assert!(both, "{version} does not unite scopes: {response:?}");
        // The token of the step-up, in the same session.
        let response = written("both").to(&service).await;
        assert_eq!(response.status(), StatusCode::OK, "{version}");
        let response = written("alan").to(&service).await;
        assert_eq!(
            response.status(),
            StatusCode::NOT_FOUND,
            "of another principal"
        );
    }
}

#[tokio::test]
async fn a_scope_that_is_missed_after_the_first_message_is_an_error_in_the_stream() {
    let service = service();
    let params = json!({"name": "late", "arguments": {}, "_meta": {"progressToken": 1}});
    let response = by(Post::per_request("tools/call", params), "ada")
        .to(&service)
        .await;
    assert_eq!(response.status(), StatusCode::OK);
    let all = events(response).await;
    let error = &all.last().unwrap()["error"];
    assert_eq!(error["data"]["reason"], "insufficient-scope", "{all:?}");
    // Nothing was sent before, since nobody asked for progress.
    let response = by(tool("late"), "ada").to(&service).await;
    assert_eq!(response.status(), StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn the_other_results_of_a_batch_are_not_lost_with_one_that_lacks_a_scope() {
    let service = service();
    let version = "2025-03-26";
    let opened = by(initialize(version), "ada").to(&service).await;
    let session = opened.headers()["mcp-session-id"].to_str().unwrap();
    let (mut one, mut two) = (call("whoami", json!({})), call("write", json!({})));
    (one["id"], two["id"]) = (json!(1), json!(2));
    let post = by(Post::of(&json!([one, two])), "ada").with("Mcp-Session-Id", session);
    let response = post.to(&service).await;
    assert_eq!(response.status(), StatusCode::OK);
    let text = body(response).await;
    assert!(text.contains("insufficient-scope"), "{text}");
    assert!(text.contains("https://auth.example ada"), "{text}");
}

#[tokio::test]
async fn scopes_may_imply_others() {
    let guard = guard()
        .with_scope_rule(|granted, scope| granted.iter().any(|one| one == scope || one == "admin"));
    let service = service_with(Options::new().with_guard(guard));
    for (token, status) in [("admin", 200), ("ada", 403)] {
        let response = by(tool("write"), token).to(&service).await;
        assert_eq!(response.status(), status, "{token}");
    }
}

#[tokio::test]
async fn a_tool_with_scopes_is_closed_where_no_guard_checks_tokens() {
    let service = service_with(Options::new());
    let answer = message(tool("write").to(&service).await).await;
    let why = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(why.contains("with_guard"), "{answer}");
    let response = by(tool("write"), "both").to(&service).await;
    assert!(message(response).await.get("error").is_some());
}

#[tokio::test]
async fn another_replica_knows_the_scopes_of_a_session_that_it_runs() {
    let memory = Memory::new();
    let replicas = [0, 1].map(|_| {
        let options = Options::new().with_backplane(memory.clone());
        service_with(options.with_guard(guard()))
    });
    let opened = by(initialize("2025-11-25"), "ada").to(&replicas[0]).await;
    let session = opened.headers()["mcp-session-id"].to_str().unwrap();
    for replica in &replicas {
        for (name, status) in [("whoami", 200), ("write", 403)] {
            let post = by(Post::of(&call(name, json!({}))), "ada");
            let response = post.with("Mcp-Session-Id", session).to(replica).await;
            assert_eq!(response.status(), status, "{name}");
            let is_challenged = challenge(&response).contains("scope=\"read write\"");
            assert_eq!(is_challenged, status == 403);
            let text = body(response).await;
            assert!(
                status == 403 || text.contains("auth.example ada|read"),
                "{text}"
            );
        }
        let post = Post::of(&call("whoami", json!({}))).with("Mcp-Session-Id", session);
        let response = post.to(replica).await;
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
    }
}

#[tokio::test]
async fn a_client_over_http_sse_needs_a_token_for_its_stream_and_for_each_message() {
    let options = Options::new().with_http_sse("/sse").with_guard(guard());
    let service = service_with(options);
    let get = |token: &str| {
        let request = Request::get("/sse").header("accept", "text/event-stream");
        let request = request.header("authorization", format!("Bearer {token}"));
        request.body(Full::<Bytes>::default()).unwrap()
    };
    let response = service.clone().oneshot(get("nobody")).await.unwrap();
    assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
    let response = service.clone().oneshot(get("ada")).await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let message = initialize("2024-11-05").request(Method::POST);
    let response = service.clone().oneshot(message).await.unwrap();
    assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_verifier_that_never_answers_costs_its_request_ten_seconds() {
    tokio::time::pause();
    let resource = ProtectedResource::new(URL, ISSUER).unwrap();
    let guard = ResourceGuard::new(resource, |_: String| std::future::pending());
    let service = service_with(Options::new().with_guard(guard));
    let before = tokio::time::Instant::now();
    let response = by(tool("whoami"), "ada").to(&service).await;
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(before.elapsed() < Duration::from_secs(11));
}

#[tokio::test]
async fn a_tool_with_scopes_is_open_over_stdio() {
    let router = Router::new()
        .tool("write", "", || async { "written" })
        .with_scopes(["write"]);
    let server = router.build("guarded", "1").unwrap();
    let (client, near) = tokio::io::duplex(1 << 16);
    let (input, output) = tokio::io::split(near);
    let served = tokio::spawn(server.lines(input, output));
    let (read, mut write) = tokio::io::split(client);
    let mut request = call("write", json!({}));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": PER_REQUEST,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    request["params"]["_meta"] = meta;
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
    write
        .write_all(format!("{request}\n").as_bytes())
        .await
        .unwrap();
    let mut line = String::new();
    BufReader::new(read).read_line(&mut line).await.unwrap();
    assert!(line.contains("written"), "{line}");
    served.abort();
}
