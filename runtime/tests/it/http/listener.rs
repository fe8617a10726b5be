//! The service on a socket: how many connections, how long a head and a body, how it ends; and pages of other origins.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::{Method, StatusCode};
use mcp_revisions::http::{self as adapter, Options, PeerAddress, PeerConnection, Service};
use mcp_revisions::mcp_wire::Json;
use mcp_revisions::sansio::server::IncomingRequest;
use mcp_revisions::serve::{Handler, Peer};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{Notify, oneshot};
use tower::ServiceExt;

use crate::http::{Post, body, server};
use crate::support::handlers;

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(20);

async fn listening() -> (TcpListener, std::net::SocketAddr) {
    let listener = adapter::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// What comes back for bytes on a connection of their own, up to its end.
async fn exchange(address: std::net::SocketAddr, bytes: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(bytes.as_bytes()).await.unwrap();
    let mut text = String::new();
    tokio::time::timeout(LONG, stream.read_to_string(&mut text))
        .await
        .expect("it stays open")
        .unwrap();
    text
}

/// What answers this head on a connection that stays open, as far as it has come.
async fn looks(stream: &mut TcpStream, head: &str) -> String {
    let head = format!("{head}\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = [0; 1 << 12];
    let read = tokio::time::timeout(LONG, stream.read(&mut answer)).await;
    let read = read.expect("no answer").unwrap();
    String::from_utf8_lossy(&answer[..read]).into_owned()
}

fn call(last: bool) -> String {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add", "arguments": {"a": 1, "b": 2},
        "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}}})
    .to_string();
    let close = if last { "Connection: close\r\n" } else { "" };
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\n{close}Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: add\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[tokio::test]
async fn a_head_and_a_body_that_stall_are_given_up() {
    let (listener, address) = listening().await;
    let times =
        Options::new().with_read_timeouts(Duration::from_millis(100), Duration::from_millis(100));
    let service = Service::with_options(server(), handlers::handle, times);
    let serving = crate::support::spawn(adapter::serve(listener, service));
    let whole = call(true);
    let (head, _) = whole.split_once("\r\n\r\n").unwrap();
    // Neither of them gets an answer to its call, and both connections end.
    let stalled = exchange(address, &head[..40]).await;
    assert!(!stalled.contains("200 OK"), "{stalled}");
    let stalled = exchange(address, &format!("{head}\r\n\r\n{{")).await;
    assert!(stalled.starts_with("HTTP/1.1 408"), "{stalled}");
    assert!(exchange(address, &whole).await.contains("\"text\":\"3\""));
    serving.abort();
}

#[tokio::test]
async fn handlers_see_the_address_that_a_call_comes_from() {
    let (listener, address) = listening().await;
    let seen = |_: IncomingRequest, peer: Peer| async move {
        let from = peer.extension::<PeerAddress>();
        let text = from.map_or("nowhere".to_owned(), |from| from.0.to_string());
        let text = json!({"type": "text", "text": text});
        Ok(Json::from(json!({"content": [text]})))
    };
    let serving = crate::support::spawn(adapter::serve(listener, Service::new(server(), seen)));
    let answer = exchange(address, &call(true)).await;
    assert!(answer.contains("\"text\":\"127.0.0.1\""), "{answer}");
    serving.abort();
}

/// A client that still sends its body when it is refused has its answer, and the end of the connection after it.
#[tokio::test]
async fn a_request_that_is_refused_by_its_head_has_its_answer_before_its_body_is_read() {
    let (listener, address) = listening().await;
    let serving = crate::support::spawn(adapter::serve(
        listener,
        Service::new(server(), handlers::handle),
    ));
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = call(true).replace("Host: localhost", "Host: elsewhere.example");
    let (head, body) = head.split_once("\r\n\r\n").unwrap();
    let begins = looks(&mut stream, &format!("{head}\r\n")).await;
    assert!(begins.starts_with("HTTP/1.1 403"), "{begins}");
    // Each part of the body that comes after the answer is taken.
    let (first, second) = body.split_at(body.len() / 2);
    stream.write_all(first.as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    stream.write_all(second.as_bytes()).await.unwrap();
    let mut rest = String::new();
    let read = tokio::time::timeout(LONG, stream.read_to_string(&mut rest)).await;
    read.expect("it stays open").expect("it is reset");
    serving.abort();
}

#[tokio::test]
async fn handlers_see_whether_the_connection_of_a_call_is_still_open() {
    let (listener, address) = listening().await;
    let kept = Arc::new(Mutex::new(None));
    let keep = Arc::clone(&kept);
    let seen = move |call: IncomingRequest, peer: Peer| {
        // The session of a request that has none is as open as its connection.
        let of_session = peer.session().connection();
        assert_eq!(of_session.as_ref(), peer.extension::<PeerConnection>());
        *keep.lock().unwrap() = of_session;
        handlers::handle(call, peer)
    };
    let serving = crate::support::spawn(adapter::serve(listener, Service::new(server(), seen)));
    let mut stream = TcpStream::connect(address).await.unwrap();
    assert_eq!(beginning(&mut stream, &call(false)).await, "HTTP/1.1 200");
    let connection = kept.lock().unwrap().take().unwrap();
    assert!(!connection.is_closed());
    drop(stream);
    let closed = async {
        while !connection.is_closed() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let closed = tokio::time::timeout(LONG, closed).await;
    closed.expect("it is said to be open");
    serving.abort();
}

#[tokio::test]
async fn connections_beyond_the_limit_wait_for_one_without_a_call() {
    let (listener, address) = listening().await;
    let begun = Arc::new(Notify::new());
    let options = Options::new()
        .with_connections(2)
        .with_connections_per_address(2);
    let service = Service::with_options(server(), stuck(&begun), options);
    let serving = crate::support::spawn(adapter::serve(listener, service));
    let mut held = Vec::new();
    for _ in 0..2 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(call(false).as_bytes()).await.unwrap();
        begun.notified().await;
        held.push(stream);
    }
    let list = call(true).replace("tools/call", "tools/list");
    let mut third = TcpStream::connect(address).await.unwrap();
    third.write_all(list.as_bytes()).await.unwrap();
    let mut begins = [0; 12];
    let early = tokio::time::timeout(Duration::from_millis(300), third.read_exact(&mut begins));
    assert!(early.await.is_err(), "there is no room");
    held.pop();
    let read = tokio::time::timeout(LONG, third.read_exact(&mut begins));
    read.await.expect("it waits though there is room").unwrap();
    assert_eq!(&begins, b"HTTP/1.1 200");
    serving.abort();
}

/// A request for the stream of changes of a client.
fn listen() -> String {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": {"notifications": {"toolsListChanged": true},
        "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}}})
    .to_string();
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Reads a connection to its end.
async fn ends(stream: &mut TcpStream) {
    let mut rest = Vec::new();
    let read = tokio::time::timeout(LONG, stream.read_to_end(&mut rest));
    let _ = read.await.expect("it stays open");
}

/// Four addresses cannot do what one cannot: those that only wait for changes make room.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn idle_connections_and_streams_of_changes_make_room_and_calls_do_not() {
    let (listener, address) = listening().await;
    let begun = Arc::new(Notify::new());
    let options = Options::new()
        .with_connections(5)
        .with_connections_per_address(2);
    let service = Service::with_options(server(), stuck(&begun), options);
    let serving = crate::support::spawn(adapter::serve(listener, service));
    let list = call(false).replace("tools/call", "tools/list");
    let (one, two, three) = ([127, 0, 0, 1], [127, 0, 0, 2], [127, 0, 0, 3]);
    let mut called = connected(one, address).await;
    called.write_all(call(false).as_bytes()).await.unwrap();
    begun.notified().await;
    let mut idle = connected(one, address).await;
    assert_eq!(beginning(&mut idle, &list).await, "HTTP/1.1 200");
    // The share of an address: its idle connection makes room, though its call is older.
    let mut stream = connected(one, address).await;
    assert_eq!(beginning(&mut stream, &listen()).await, "HTTP/1.1 200");
    ends(&mut idle).await;
    let mut first = connected(two, address).await;
    assert_eq!(beginning(&mut first, &listen()).await, "HTTP/1.1 200");
    let mut second = connected(two, address).await;
    assert_eq!(beginning(&mut second, &listen()).await, "HTTP/1.1 200");
    let mut fifth = connected(three, address).await;
    assert_eq!(beginning(&mut fifth, &listen()).await, "HTTP/1.1 200");
    // All are taken: the address with most idle ones makes room, the longest idle first.
    let mut sixth = connected(three, address).await;
    assert_eq!(beginning(&mut sixth, &list).await, "HTTP/1.1 200");
    ends(&mut first).await;
    let mut nothing = [0; 1];
    let pause = Duration::from_millis(100);
    let waits = tokio::time::timeout(pause, called.read(&mut nothing));
    assert!(waits.await.is_err(), "the call is at work");
    serving.abort();
}

/// A connection from an address of this machine.
async fn connected(source: [u8; 4], to: std::net::SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((source, 0).into()).unwrap();
    socket.connect(to).await.unwrap()
}

/// The beginning of what comes back for bytes on a connection that stays open.
async fn beginning(stream: &mut TcpStream, bytes: &str) -> String {
    stream.write_all(bytes.as_bytes()).await.unwrap();
    let mut begins = [0; 12];
    let read = stream.read_exact(&mut begins);
    tokio::time::timeout(LONG, read).await.unwrap().unwrap();
    String::from_utf8_lossy(&begins).into_owned()
}

// Other machines have one address of themselves alone.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn connections_from_one_address_leave_room_for_those_from_another() {
    let (listener, address) = listening().await;
    let options = Options::new().with_connections(4);
    let begun = Arc::new(Notify::new());
    let service = Service::with_options(server(), stuck(&begun), options);
    let serving = crate::support::spawn(adapter::serve(listener, service));
    let list = call(false).replace("tools/call", "tools/list");
    let mut held = connected([127, 0, 0, 1], address).await;
    held.write_all(call(false).as_bytes()).await.unwrap();
    begun.notified().await;
    let mut greedy = connected([127, 0, 0, 1], address).await;
    let mut refused = String::new();
    let read = greedy.read_to_string(&mut refused);
    tokio::time::timeout(LONG, read).await.unwrap().unwrap();
    assert!(refused.starts_with("HTTP/1.1 503"), "{refused}");
    let (head, body) = refused.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(&format!("Content-Length: {}", body.len())));
    let mut other = connected([127, 0, 0, 2], address).await;
    assert_eq!(beginning(&mut other, &list).await, "HTTP/1.1 200");
    // Its room is its own again once it has hung up.
    drop(held);
    for _ in 0..400 {
        let mut again = connected([127, 0, 0, 1], address).await;
        if beginning(&mut again, &list).await == "HTTP/1.1 200" {
            return serving.abort();
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("the address has no room any more");
}

#[tokio::test]
async fn a_client_that_hangs_up_behind_a_byte_gives_its_connection_back() {
    let (listener, address) = listening().await;
    let begun = Arc::new(Notify::new());
    let options = Options::new().with_connections(1);
    let service = Service::with_options(server(), stuck(&begun), options);
    let serving = crate::support::spawn(adapter::serve(listener, service));
    let mut gone = TcpStream::connect(address).await.unwrap();
    let request = format!("{}P", call(false));
    gone.write_all(request.as_bytes()).await.unwrap();
    begun.notified().await;
    drop(gone);
    let list = call(true).replace("tools/call", "tools/list");
    let answer = exchange(address, &list).await;
    assert!(answer.contains("\"tools\":[]"), "{answer}");
    serving.abort();
}

#[tokio::test]
async fn a_client_that_sends_its_next_request_early_and_stays_has_its_answer() {
    let (listener, address) = listening().await;
    // Longer than the server takes to look whether a client with more to say has hung up.
    let slow = |call: IncomingRequest, peer: Peer| async move {
        if call.method == "tools/call" {
            tokio::time::sleep(Duration::from_millis(2_500)).await;
        }
        handlers::handle(call, peer).await
    };
    let serving = crate::support::spawn(adapter::serve(listener, Service::new(server(), slow)));
    let list = call(true).replace("tools/call", "tools/list");
    let answers = exchange(address, &format!("{}{list}", call(false))).await;
    assert_eq!(answers.matches("HTTP/1.1 200").count(), 2, "{answers}");
    serving.abort();
}

#[tokio::test]
async fn a_client_that_reads_nothing_of_its_answer_is_hung_up_on() {
    let (listener, address) = listening().await;
    // More than the kernel keeps for both ends.
    let answer = json!({"content": [{"type": "text", "text": "x".repeat(24 << 20)}]});
    let answer = Json::from(answer);
    let handler = move |call: IncomingRequest, _: Peer| {
        let answer = match call.method {
            "tools/list" => Json::from_text(r#"{"tools":[]}"#).unwrap(),
            _ => answer.clone(),
        };
        async move { Ok(answer) }
    };
    let options = Options::new().with_write_timeout(Duration::from_millis(200));
    let service = Service::with_options(server(), handler, options);
    let serving = crate::support::spawn(adapter::serve(listener, service));
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(call(false).as_bytes()).await.unwrap();
    let hung_up = async {
        while stream.write_all(b"\n").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(LONG, hung_up)
        .await
        .expect("the connection stays open");
    serving.abort();
}

/// The id of a session that is opened from an address of this machine, or the answer to a ping in one.
async fn from(source: [u8; 4], to: std::net::SocketAddr, session: Option<&str>) -> String {
    let body = match session {
        Some(_) => json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}),
        None => {
            let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
        }
    };
    let session = session.map_or(String::new(), |id| format!("Mcp-Session-Id: {id}\r\n"));
    let body = body.to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n{session}\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = connected(source, to).await;
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    let mut lines = text.lines();
    let id = lines.find_map(|line| line.strip_prefix("mcp-session-id: "));
    id.map_or(text.clone(), str::to_owned)
}

// Other machines have one address of themselves alone.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn who_sends_from_elsewhere_keeps_its_session_through_a_flood() {
    let (listener, address) = listening().await;
    let limits = mcp_revisions::Limits {
        max_sessions_per_owner: 2,
        ..mcp_revisions::Limits::default()
    };
    let service = Service::new(server().with_limits(limits), handlers::handle);
    let serving = crate::support::spawn(adapter::serve(listener, service));
    let quiet = from([127, 0, 0, 2], address, None).await;
    let mut flooded = Vec::new();
    for _ in 0..10 {
        flooded.push(from([127, 0, 0, 1], address, None).await);
    }
    let (first, last) = (&flooded[0], &flooded[9]);
    for (id, status) in [(&quiet, "200"), (first, "404"), (last, "200")] {
        let answer = from([127, 0, 0, 1], address, Some(id)).await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{answer}"
        );
    }
    serving.abort();
}

#[tokio::test]
async fn a_server_that_stops_takes_no_calls_and_finishes_what_is_at_work() {
    let (listener, address) = listening().await;
    let (begun, leave) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let handler = {
        let (begun, leave) = (Arc::clone(&begun), Arc::clone(&leave));
        move |call: IncomingRequest, _: Peer| {
            let (begun, leave) = (Arc::clone(&begun), Arc::clone(&leave));
            async move {
                if call.method == "tools/list" {
                    return Ok(Json::from_text(r#"{"tools":[]}"#).unwrap());
                }
                begun.notify_one();
                leave.notified().await;
                Ok(Json::from_text(r#"{"content":[]}"#).unwrap())
            }
        }
    };
    let (stop, stopped) = oneshot::channel::<()>();
    let service = Service::with_options(server(), handler, Options::new().with_health("/healthz"));
    let until = async { drop(stopped.await) };
    let serving = crate::support::spawn(adapter::serve_until(listener, service, until, 3 * LONG));
    let mut idle = TcpStream::connect(address).await.unwrap();
    let looked = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n";
    let mut kept = TcpStream::connect(address).await.unwrap();
    assert!(looks(&mut kept, looked).await.starts_with("HTTP/1.1 200"));
    let at_work = crate::support::spawn(async move { exchange(address, &call(true)).await });
    begun.notified().await;
    stop.send(()).unwrap();
    // A balancer that asks is told so, on a connection that it has and on a new one, until what is at work is done.
    for _ in 0..400 {
        if looks(&mut kept, looked).await.starts_with("HTTP/1.1 503") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(looks(&mut kept, looked).await.starts_with("HTTP/1.1 503"));
    let last = format!("{looked}Connection: close\r\n\r\n");
    for refused in [&last, &call(true)] {
        let answer = exchange(address, refused).await;
        assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    }
    assert!(!serving.is_finished());
    leave.notify_one();
    assert!(at_work.await.unwrap().contains("200 OK"));
    // Connections without a request end then, and do not use up the grace.
    for open in [&mut idle, &mut kept] {
        let end = tokio::time::timeout(LONG, open.read(&mut [0; 1])).await;
        assert_eq!(end.expect("it stays open").unwrap(), 0);
    }
    tokio::time::timeout(LONG, serving)
        .await
        .expect("it does not end")
        .unwrap();
}

/// Answers nothing, ever, but a list of tools.
fn stuck(begun: &Arc<Notify>) -> impl Handler {
    let begun = Arc::clone(begun);
    move |call: IncomingRequest, _: Peer| {
        let begun = Arc::clone(&begun);
        async move {
            if call.method != "tools/list" {
                begun.notify_one();
                std::future::pending::<()>().await;
            }
            Ok(Json::from_text(r#"{"tools":[]}"#).unwrap())
        }
    }
}

#[tokio::test]
async fn a_server_that_stops_waits_no_longer_than_its_grace() {
    let (listener, address) = listening().await;
    let begun = Arc::new(Notify::new());
    let (stop, stopped) = oneshot::channel::<()>();
    let service = Service::new(server(), stuck(&begun));
    let until = async { drop(stopped.await) };
    let grace = Duration::from_millis(50);
    let serving = crate::support::spawn(adapter::serve_until(listener, service, until, grace));
    let at_work = crate::support::spawn(async move { exchange(address, &call(true)).await });
    begun.notified().await;
    stop.send(()).unwrap();
    tokio::time::timeout(LONG, serving)
        .await
        .expect("it waits for ever")
        .unwrap();
    // Its client is told that nothing more comes.
    let answer = at_work.await.unwrap();
    assert!(answer.contains("the server ended before"), "{answer}");
}

#[tokio::test]
async fn pages_of_allowed_origins_may_send_and_read_and_others_may_not() {
    let options = || Options::new().allow_origin("https://app.example.com");
    let preflight = |origin: &str| {
        Post::of(&json!(0))
            .with("Origin", origin)
            .with("Access-Control-Request-Method", "POST")
            .with("Access-Control-Request-Headers", "content-type, mcp-method")
            .request(Method::OPTIONS)
    };
    let service = Service::with_options(server(), handlers::handle, options().with_cors());
    let allowed = service
        .clone()
        .oneshot(preflight("https://app.example.com"))
        .await
        .unwrap();
    assert_eq!(allowed.status(), StatusCode::NO_CONTENT);
    let header = |name: &str| allowed.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(
        header("access-control-allow-origin"),
        "https://app.example.com"
    );
    assert_eq!(
        header("access-control-allow-headers"),
        "content-type, mcp-method"
    );
    assert!(header("access-control-allow-methods").contains("POST"));
    let refused = service
        .clone()
        .oneshot(preflight("https://evil.example.com"))
        .await
        .unwrap();
    assert_eq!(refused.status(), StatusCode::FORBIDDEN);
    assert!(
        refused
            .headers()
            .get("access-control-allow-origin")
            .is_none()
    );
    // A page of this machine may send what needs no leave of the browser; it reads the answers if it is named, too.
    let origin = "http://localhost:3";
    let refused = service.clone().oneshot(preflight(origin)).await.unwrap();
    assert_eq!(refused.status(), StatusCode::METHOD_NOT_ALLOWED);
    let post = Post::per_request("tools/list", json!({})).with("Origin", origin);
    let answer = post.to(&service).await;
    assert_eq!(answer.status(), StatusCode::OK);
    for answered in [&refused, &answer] {
        let exposed = answered.headers().get("access-control-allow-origin");
        assert!(exposed.is_none(), "{exposed:?}");
    }
    let post = Post::per_request("tools/list", json!({})).with("Origin", "https://app.example.com");
    let answer = post.to(&service).await;
    assert_eq!(
        answer.headers()["access-control-allow-origin"],
        "https://app.example.com"
    );
    assert_eq!(answer.headers()["vary"], "Origin");
    assert!(body(answer).await.contains("\"tools\""));
    // Who did not ask for it does not get it.
    let plain = Service::with_options(server(), handlers::handle, options());
    let answer = plain
        .oneshot(preflight("https://app.example.com"))
        .await
        .unwrap();
    assert_eq!(answer.status(), StatusCode::METHOD_NOT_ALLOWED);
}

/// Reads a stream until this was in it, and returns what was read.
async fn read_until(stream: &mut TcpStream, text: &str) -> String {
    let mut read = String::new();
    let reading = async {
        while !read.contains(text) {
            let mut bytes = [0; 1 << 10];
            let count = stream.read(&mut bytes).await.unwrap();
            assert_ne!(count, 0, "{read}");
            read.push_str(std::str::from_utf8(&bytes[..count]).unwrap());
        }
    };
    tokio::time::timeout(LONG, reading).await.expect(text);
    read
}

#[tokio::test]
async fn a_server_that_stops_does_not_wait_for_streams_and_heads_without_a_call() {
    let (listener, address) = listening().await;
    let options = Options::new().with_http_sse("/sse");
    let service = Service::with_options(server(), handlers::handle, options);
    let (stop, stopped) = oneshot::channel::<()>();
    let until = async { drop(stopped.await) };
    let serving = crate::support::spawn(adapter::serve_until(listener, service, until, 3 * LONG));
    let session = from([127, 0, 0, 1], address, None).await;
    let get = |path: &str, more: &str| {
        format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n{more}\r\n")
    };
    let mut stream = TcpStream::connect(address).await.unwrap();
    let of_session = get("/mcp", &format!("Mcp-Session-Id: {session}\r\n"));
    assert_eq!(beginning(&mut stream, &of_session).await, "HTTP/1.1 200");
    let mut only = TcpStream::connect(address).await.unwrap();
    only.write_all(get("/sse", "").as_bytes()).await.unwrap();
    read_until(&mut only, "sessionId=").await;
    // Heads that are not whole, one of them behind a request that was answered.
    let mut first = TcpStream::connect(address).await.unwrap();
    first.write_all(b"POST /mcp HT").await.unwrap();
    let mut half = TcpStream::connect(address).await.unwrap();
    assert_eq!(beginning(&mut half, &call(false)).await, "HTTP/1.1 200");
    read_until(&mut half, "\"text\":\"3\"").await;
    half.write_all(b"POST /mcp HT").await.unwrap();
    // The server has read what came before a call that it answers.
    assert!(exchange(address, &call(true)).await.contains("200 OK"));
    stop.send(()).unwrap();
    let ended = tokio::time::timeout(LONG, serving).await;
    ended.expect("it waits for the grace to be over").unwrap();
}

#[tokio::test]
async fn a_call_whose_answer_comes_in_the_stream_of_its_session_finishes_before_that_ends() {
    let (listener, address) = listening().await;
    let (begun, leave) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let handler = {
        let (begun, leave) = (Arc::clone(&begun), Arc::clone(&leave));
        move |_: IncomingRequest, _: Peer| {
            let (begun, leave) = (Arc::clone(&begun), Arc::clone(&leave));
            async move {
                begun.notify_one();
                leave.notified().await;
                Ok(Json::from_text(r#"{"tools":[]}"#).unwrap())
            }
        }
    };
    let options = Options::new().with_http_sse("/sse");
    let service = Service::with_options(server(), handler, options);
    let (stop, stopped) = oneshot::channel::<()>();
    let until = async { drop(stopped.await) };
    let serving = crate::support::spawn(adapter::serve_until(listener, service, until, 3 * LONG));
    let mut stream = TcpStream::connect(address).await.unwrap();
    let get = "GET /sse HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n";
    stream.write_all(get.as_bytes()).await.unwrap();
    let read = read_until(&mut stream, "\n\n").await;
    let endpoint = read.lines().find_map(|line| line.strip_prefix("data: "));
    let endpoint = endpoint.unwrap().to_owned();
    let send = |message: serde_json::Value| {
        let body = message.to_string();
        let request = format!(
            "POST {endpoint} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        async move { exchange(address, &request).await }
    };
    let params = json!({"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    send(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})).await;
    read_until(&mut stream, "protocolVersion").await;
    send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    send(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})).await;
    begun.notified().await;
    stop.send(()).unwrap();
    // The listener is gone once the server stops.
    for _ in 0..400 {
        if TcpStream::connect(address).await.is_err() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    leave.notify_one();
    read_until(&mut stream, "\"tools\":[]").await;
    let ended = tokio::time::timeout(LONG, serving).await;
    ended.expect("it waits for the grace to be over").unwrap();
}

#[tokio::test]
async fn a_head_that_is_too_long_is_refused_and_a_long_body_is_read() {
    let (listener, address) = listening().await;
    let service = Service::new(server(), handlers::handle);
    let serving = crate::support::spawn(adapter::serve(listener, service));
    let header = |bytes: usize| format!("X-Long: {}\r\nHost:", "x".repeat(bytes));
    let refused = exchange(address, &call(true).replacen("Host:", &header(200_000), 1)).await;
    assert!(refused.starts_with("HTTP/1.1 431"), "{refused}");
    let taken = exchange(address, &call(true).replacen("Host:", &header(60_000), 1)).await;
    assert!(taken.contains("\"text\":\"3\""), "{taken}");
    let whole = call(true);
    let (head, body) = whole.split_once("\r\n\r\n").unwrap();
    let (head, _) = head.rsplit_once(' ').unwrap();
    let body = format!("{body}{}", " ".repeat(1 << 20));
    let long = format!("{head} {}\r\n\r\n{body}", body.len());
    let taken = exchange(address, &long).await;
    assert!(taken.contains("\"text\":\"3\""), "{taken}");
    serving.abort();
}

#[tokio::test]
async fn a_grace_without_limit_ends_with_the_last_call() {
    let (listener, _) = listening().await;
    let service = Service::new(server(), handlers::handle);
    let stop = std::future::ready(());
    let served = adapter::serve_until(listener, service, stop, Duration::MAX);
    tokio::time::timeout(LONG, served).await.unwrap();
}
