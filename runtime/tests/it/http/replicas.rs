//! Several servers behind one address: nothing depends on which one answers.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use http::{Method, Response, StatusCode};
use http_body_util::BodyExt;
use mcp_revisions::Latest;
use mcp_revisions::backplane::{
    Backplane, EventId, KeptEvent, Memory, Receiver, ReplicaTarget, Reply, SessionRecord,
    Unavailable,
};
use mcp_revisions::http::{Body, Options, Principal, Service};
use mcp_revisions::mcp_wire::{ErrorObject, Json};
use mcp_revisions::sansio::server::{IncomingRequest, Owner, TaskStore};
use mcp_revisions::serve::Peer;
use mcp_revisions::service::router::Changes;
use mcp_revisions::service::{Error, McpServer, RequestContext, Router};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tower::ServiceExt;

use crate::http::{Post, VERSIONS, body, call, events, initialize, message, open, server};
use crate::support::{handlers, says};

const KEY: [u8; 32] = [7; 32];

#[tokio::test]
async fn per_request_requests_are_answered_alike_by_either() {
    let replicas =
        [0, 1].map(|_| Service::new(server().with_request_state_key(KEY), handlers::handle));
    for (method, params) in [
        ("server/discover", json!({})),
        ("tools/list", json!({})),
        (
            "tools/call",
            json!({"name": "add", "arguments": {"a": 1, "b": 2}}),
        ),
        ("resources/list", json!({})),
        ("prompts/list", json!({})),
        ("tools/call", json!({"name": "no such"})),
    ] {
        let mut answers = Vec::new();
        for replica in &replicas {
            answers
                .push(message(Post::per_request(method, params.clone()).to(replica).await).await);
        }
        assert_eq!(answers[0], answers[1], "{method}");
    }
}

/// Asks for the roots of whoever calls, and says what they are.
async fn curious(call: IncomingRequest, peer: Peer) -> Result<Json, ErrorObject> {
    if call.method == "tools/list" {
        return Ok(Json::from_text(r#"{"tools":[]}"#).unwrap());
    }
    let roots = peer.ask("roots/list", None).await?;
    let text = json!({"content": [{"type": "text", "text": roots.text()}]});
    Ok(Json::from(text))
}

fn call_by(params: Value) -> Post {
    let mut post = Post::per_request("tools/call", params);
    post.allow("roots");
    post
}

#[tokio::test]
async fn a_call_that_one_has_parked_is_refused_clearly_by_one_that_shares_nothing_and_goes_on_at_the_first()
 {
    let replicas = [0, 1].map(|_| Service::new(server().with_request_state_key(KEY), curious));
    let mut retries = Vec::new();
    // Both park the same request of the same client.
    for replica in &replicas {
        let asked = message(call_by(json!({"name": "t"})).to(replica).await).await;
        let asked = &asked["result"];
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        let name = asked["inputRequests"]
            .as_object()
            .unwrap()
            .keys()
            .next()
            .unwrap()
            .clone();
        retries.push((name, asked["requestState"].clone()));
    }
    let retry = |index: usize, uri: &str| {
        let (name, state) = &retries[index];
        let responses = json!({name: {"roots": [{"uri": uri}]}});
        call_by(json!({"name": "t", "requestState": state, "inputResponses": responses}))
    };
    let refused = message(retry(0, "file:///a").to(&replicas[1]).await).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    says(&refused["error"]["message"], "make the request again");
    for index in [0, 1] {
        let uri = format!("file:///{index}");
        let answer = message(retry(index, &uri).to(&replicas[index]).await).await;
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(&uri), "{answer}");
    }
}

/// Services that share a backplane, as many as are asked for.
fn sharing(count: usize, changes: &mut Vec<Changes>) -> Vec<Service> {
    let backplane = Memory::new();
    let each = |_| {
        let own = Changes::new().shared_by(backplane.clone());
        changes.push(own.clone());
        let options = Options::new().with_backplane(backplane.clone());
        replica(&own).into_http_service(options)
    };
    (0..count).map(each).collect()
}

/// Tools that a client can notice all of: one asks, one tells its progress and waits, one logs.
pub(crate) fn replica(changes: &Changes) -> McpServer<Latest> {
    let waits = |cx: RequestContext<Latest>| async move {
        cx.progress(1, 2).await;
        tokio::time::sleep(Duration::from_secs(600)).await;
        "waited"
    };
    let asks = |cx: RequestContext<Latest>| async move {
        let peer = cx.peer().ok_or_else(|| Error::internal("no call"))?;
        let roots = peer.ask("roots/list", None).await;
        let roots = roots.map_err(|error| Error::internal(error.message))?;
        Ok::<_, Error>(roots.text().to_owned())
    };
    Router::new()
        .with_changes(changes)
        .tool("add", "Adds.", || async { "3" })
        .tool("waits", "Waits.", waits)
        .tool("asks", "Asks.", asks)
        .resource("example://a", "a", || async { "a" })
        .build("replica", "1.0")
        .unwrap()
        .with_request_state_key(KEY)
}

pub(crate) fn in_session(session: &str, message: &Value) -> Post {
    Post::of(message).with("Mcp-Session-Id", session)
}

pub(crate) fn request(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// The next message of a stream.
pub(crate) async fn next(body: &mut Body) -> (Option<String>, Value) {
    let read = async {
        loop {
            let frame = body.frame().await.expect("the stream goes on").unwrap();
            let text = String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap();
            let line = |name: &str| {
                text.lines()
                    .find_map(|line| Some(line.strip_prefix(name)?.to_owned()))
            };
            let data = line("data: ").filter(|data| !data.is_empty());
            if let Some(data) = data {
                return (line("id: "), serde_json::from_str(&data).unwrap());
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(10), read)
        .await
        .expect("a message in time")
}

/// Reads until a resource is said to have changed.
pub(crate) async fn told_of(body: &mut Body, uri: &str) {
    while next(body).await.1["params"]["uri"] != uri {}
}

async fn get(service: &Service, session: &str, behind: Option<&str>) -> Response<Body> {
    let mut get = in_session(session, &json!(0)).with("accept", "text/event-stream");
    if let Some(behind) = behind {
        get = get.with("Last-Event-ID", behind);
    }
    let request = get.request(Method::GET);
    service.clone().oneshot(request).await.unwrap()
}

#[tokio::test]
async fn a_session_is_one_whichever_replica_its_requests_arrive_at() {
    let replicas = sharing(3, &mut Vec::new());
    for version in VERSIONS {
        let session = open(&replicas[0], version).await;
        for replica in &replicas {
            let answer = in_session(&session, &call("add", json!({})))
                .to(replica)
                .await;
            let answer = message(answer).await;
            assert_eq!(answer["result"]["content"][0]["text"], "3", "{version}");
        }
        let delete = in_session(&session, &json!(0)).request(Method::DELETE);
        let deleted = replicas[1].clone().oneshot(delete).await.unwrap();
        assert_eq!(deleted.status(), StatusCode::NO_CONTENT);
        for replica in &replicas {
            let answer = in_session(&session, &call("add", json!({})))
                .to(replica)
                .await;
            assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{version}");
        }
    }
}

#[tokio::test]
async fn a_question_is_answered_and_a_call_is_cancelled_at_any_replica() {
    let replicas = sharing(3, &mut Vec::new());
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {"roots": {}}, "clientInfo": {"name": "t", "version": "1"}});
    let opened = Post::of(&request(0, "initialize", params))
        .to(&replicas[0])
        .await;
    let session = opened.headers()["mcp-session-id"]
        .to_str()
        .unwrap()
        .to_owned();
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let taken = in_session(&session, &initialized).to(&replicas[1]).await;
    assert_eq!(taken.status(), StatusCode::ACCEPTED);
    let asking = in_session(&session, &call("asks", json!({})));
    let mut stream = asking.to(&replicas[1]).await.into_body();
    let (_, question) = next(&mut stream).await;
    assert_eq!(question["method"], "roots/list", "{question}");
    let roots = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": [{"uri": "file:///a"}]}});
    let taken = in_session(&session, &roots).to(&replicas[2]).await;
    assert_eq!(taken.status(), StatusCode::ACCEPTED);
    let (_, answer) = next(&mut stream).await;
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("file:///a"), "{answer}");

    let params = json!({"name": "waits", "arguments": {}, "_meta": {"progressToken": "p"}});
    let waiting = in_session(&session, &request(7, "tools/call", params));
    let mut stream = waiting.to(&replicas[2]).await.into_body();
    let (_, progress) = next(&mut stream).await;
    assert_eq!(progress["method"], "notifications/progress", "{progress}");
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
    let taken = in_session(&session, &cancelled).to(&replicas[1]).await;
    assert_eq!(taken.status(), StatusCode::ACCEPTED);
    let rest = tokio::time::timeout(Duration::from_secs(10), stream.collect());
    let rest = rest.await.expect("a cancelled call ends").unwrap();
    assert!(rest.to_bytes().is_empty());
}

#[tokio::test]
async fn a_stream_at_one_replica_has_the_changes_of_another_that_were_subscribed_to_at_a_third() {
    let mut changes = Vec::new();
    let replicas = sharing(3, &mut changes);
    for version in VERSIONS {
        let session = open(&replicas[0], version).await;
        let stream = get(&replicas[1], &session, None).await;
        assert_eq!(stream.status(), StatusCode::OK);
        let mut stream = stream.into_body();
        let subscribe = request(3, "resources/subscribe", json!({"uri": "example://a"}));
        let subscribed = in_session(&session, &subscribe).to(&replicas[2]).await;
        assert_eq!(message(subscribed).await["result"], json!({}));
        // It is taken up once the call before has been answered.
        message(
            in_session(&session, &call("add", json!({})))
                .to(&replicas[2])
                .await,
        )
        .await;
        for changed in &changes {
            changed.resource("example://a");
            let (_, told) = next(&mut stream).await;
            assert_eq!(told["params"]["uri"], "example://a", "{version}: {told}");
            changed.tools();
            let (_, told) = next(&mut stream).await;
            assert_eq!(told["method"], "notifications/tools/list_changed");
        }
    }
}

#[tokio::test]
async fn a_session_whose_replica_has_left_goes_on_at_another_as_it_was() {
    for version in VERSIONS {
        let mut changes = Vec::new();
        let mut replicas = sharing(3, &mut changes);
        let session = open(&replicas[0], version).await;
        let subscribe = request(3, "resources/subscribe", json!({"uri": "example://a"}));
        message(in_session(&session, &subscribe).to(&replicas[1]).await).await;
        let mut stream = get(&replicas[1], &session, None).await.into_body();
        changes[0].tools();
        let (seen, _) = next(&mut stream).await;
        drop(stream);
        let left = replicas.remove(0);
        left.close();
        left.leave();
        drop(left);
        for replica in &replicas {
            let answer = in_session(&session, &call("add", json!({})))
                .to(replica)
                .await;
            assert_eq!(message(answer).await["result"]["content"][0]["text"], "3");
        }
        let mut stream = get(&replicas[1], &session, None).await.into_body();
        // The id of the stream may have changed on the way: a message sent from now on has the id of no earlier event.
        let (id, _) = next(&mut stream).await;
        assert!(id.is_none() || id != seen, "{version}: {id:?}");
        told_of(&mut stream, "example://a").await;
        changes[2].resource("example://a");
        told_of(&mut stream, "example://a").await;
    }
}

#[tokio::test]
async fn a_session_goes_on_at_another_replica_as_soon_as_its_own_is_closing() {
    let replicas = sharing(2, &mut Vec::new());
    let session = open(&replicas[0], "2025-11-25").await;
    replicas[0].close();
    let add = in_session(&session, &call("add", json!({})));
    let answer = message(add.to(&replicas[1]).await).await;
    assert_eq!(answer["result"]["content"][0]["text"], "3", "{answer}");
}

/// Opens a session of a client that has roots.
async fn open_with_roots(service: &Service) -> String {
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {"roots": {}}, "clientInfo": {"name": "t", "version": "1"}});
    let opened = Post::of(&request(0, "initialize", params))
        .to(service)
        .await;
    opened.headers()["mcp-session-id"]
        .to_str()
        .unwrap()
        .to_owned()
}

/// Looks whether a service still has a call at work.
async fn is_drained(service: &Service) -> bool {
    let drained = tokio::time::timeout(Duration::from_millis(300), service.drained());
    drained.await.is_ok()
}

#[tokio::test]
async fn a_replica_that_closes_serves_all_that_belongs_to_an_open_call_wherever_it_arrives() {
    for (calls_at, answers_at) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let replicas = sharing(2, &mut Vec::new());
        let (home, both) = (&replicas[0], [&replicas[0], &replicas[1]]);
        let session = open_with_roots(home).await;
        let asking = in_session(&session, &request(7, "tools/call", json!({"name": "asks"})));
        let mut stream = asking.to(both[calls_at]).await.into_body();
        let (_, question) = next(&mut stream).await;
        let params = json!({"name": "waits", "_meta": {"progressToken": "p"}});
        let waiting = in_session(&session, &request(8, "tools/call", params));
        let mut waits = waiting.to(both[calls_at]).await.into_body();
        next(&mut waits).await;
        home.lame_duck();
        home.close();
        assert!(!is_drained(home).await, "{calls_at} {answers_at}");
        // A new session, and a call of a client without one, are for another replica.
        let refused = initialize("2025-11-25").to(home).await;
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
        let add = json!({"name": "add", "arguments": {}});
        let refused = Post::per_request("tools/call", add).to(home).await;
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
        // What belongs to the session is served, because it has open calls.
        let answer = in_session(&session, &call("add", json!({})));
        let answer = message(answer.to(both[answers_at]).await).await;
        assert_eq!(answer["result"]["content"][0]["text"], "3", "{answer}");
        let roots = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": [{"uri": "file:///a"}]}});
        let taken = in_session(&session, &roots).to(both[answers_at]).await;
        assert_eq!(taken.status(), StatusCode::ACCEPTED);
        let (_, answer) = next(&mut stream).await;
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("file:///a"), "{answer}");
        let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 8}});
        let taken = in_session(&session, &cancelled).to(both[answers_at]).await;
        assert_eq!(taken.status(), StatusCode::ACCEPTED);
        tokio::time::timeout(Duration::from_secs(10), waits.collect())
            .await
            .expect("a cancelled call ends")
            .unwrap();
        assert!(is_drained(home).await, "{calls_at} {answers_at}");
        // Now the session goes on elsewhere.
        let add = in_session(&session, &call("add", json!({})));
        let refused = add.to(home).await;
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
        let add = in_session(&session, &call("add", json!({})));
        let answer = message(add.to(&replicas[1]).await).await;
        assert_eq!(answer["result"]["content"][0]["text"], "3", "{answer}");
        home.leave();
    }
}

#[tokio::test]
async fn a_replica_that_closes_takes_the_retry_of_a_request_that_it_has_suspended() {
    for retried_at in [0, 1] {
        let backplane = Memory::new();
        let replicas = [0, 1].map(|_| {
            let options = Options::new().with_backplane(backplane.clone());
            let server = server().with_request_state_key(KEY);
            Service::with_options(server, curious, options)
        });
        let asked = message(call_by(json!({"name": "t"})).to(&replicas[0]).await).await;
        replicas[0].close();
        assert!(!is_drained(&replicas[0]).await);
        let asked = &asked["result"];
        let name = asked["inputRequests"].as_object();
        let name = name.and_then(|requests| requests.keys().next()).unwrap();
        let responses = json!({name: {"roots": [{"uri": "file:///a"}]}});
        let retry = json!({"name": "t", "requestState": asked["requestState"], "inputResponses": responses});
        let answer = message(call_by(retry).to(&replicas[retried_at]).await).await;
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("file:///a"), "{answer}");
        assert!(is_drained(&replicas[0]).await);
    }
}

#[tokio::test]
async fn calls_that_outlast_a_replica_end_with_an_error_whoever_passed_them_on() {
    let replicas = sharing(2, &mut Vec::new());
    let session = open(&replicas[0], "2025-11-25").await;
    let mut streams = Vec::new();
    for (id, replica) in [(7, &replicas[0]), (8, &replicas[1])] {
        let params = json!({"name": "waits", "_meta": {"progressToken": "p"}});
        let waiting = in_session(&session, &request(id, "tools/call", params));
        let mut stream = waiting.to(replica).await.into_body();
        next(&mut stream).await;
        streams.push((id, stream));
    }
    replicas[0].close();
    replicas[0].leave();
    for (id, mut stream) in streams {
        let (_, answer) = next(&mut stream).await;
        assert_eq!(answer["id"], id, "{answer}");
        let why = answer["error"]["message"].as_str().unwrap();
        assert!(why.contains("the server ended"), "{answer}");
    }
}

#[tokio::test]
async fn what_a_client_subscribes_to_in_a_batch_is_kept_when_its_replica_leaves() {
    let mut changes = Vec::new();
    let mut replicas = sharing(2, &mut changes);
    let session = open(&replicas[0], "2025-03-26").await;
    let subscribe = request(3, "resources/subscribe", json!({"uri": "example://a"}));
    let batch = json!([subscribe, request(4, "ping", json!({}))]);
    let answers = message(in_session(&session, &batch).to(&replicas[0]).await).await;
    assert_eq!(answers.as_array().map(Vec::len), Some(2), "{answers}");
    let left = replicas.remove(0);
    left.close();
    left.leave();
    drop(left);
    let add = in_session(&session, &call("add", json!({})));
    message(add.to(&replicas[0]).await).await;
    let mut stream = get(&replicas[0], &session, None).await.into_body();
    told_of(&mut stream, "example://a").await;
    changes[1].resource("example://a");
    told_of(&mut stream, "example://a").await;
}

#[tokio::test]
async fn a_stream_whose_replica_is_gone_ends_with_an_error_for_its_request_once_it_is_resumed() {
    let mut replicas = sharing(2, &mut Vec::new());
    let session = open(&replicas[0], "2025-06-18").await;
    let params = json!({"name": "waits", "arguments": {}, "_meta": {"progressToken": "p"}});
    let waiting = in_session(&session, &request(7, "tools/call", params));
    let mut stream = waiting.to(&replicas[0]).await.into_body();
    let (behind, progress) = next(&mut stream).await;
    assert_eq!(progress["method"], "notifications/progress", "{progress}");
    drop(stream);
    let left = replicas.remove(0);
    left.close();
    left.leave();
    drop(left);
    let behind = behind.unwrap();
    let mut rest = get(&replicas[0], &session, Some(&behind)).await.into_body();
    let (_, answer) = next(&mut rest).await;
    assert_eq!(answer["id"], 7, "{answer}");
    let why = answer["error"]["message"].as_str().unwrap();
    assert!(why.contains("gone"), "{answer}");
    // From before the first event, all of it comes once.
    let stream = behind.split_once('-').unwrap().0;
    let all = get(&replicas[0], &session, Some(&format!("{stream}-0"))).await;
    assert_eq!(events(all).await.len(), 2);
    // What begins now is told apart from what was.
    let params = json!({"name": "waits", "arguments": {}, "_meta": {"progressToken": "q"}});
    let waiting = in_session(&session, &request(8, "tools/call", params));
    let mut stream = waiting.to(&replicas[0]).await.into_body();
    assert_ne!(
        next(&mut stream)
            .await
            .0
            .unwrap()
            .split_once('-')
            .unwrap()
            .0,
        behind.split_once('-').unwrap().0
    );
}

#[tokio::test]
async fn another_principal_finds_no_session_at_any_replica() {
    let replicas = sharing(2, &mut Vec::new());
    let by = |post: Post, name: &str| {
        let mut request = post.request(Method::POST);
        request.extensions_mut().insert(Principal(name.to_owned()));
        request
    };
    let opened = by(initialize("2025-11-25"), "ada");
    let opened = replicas[0].clone().oneshot(opened).await.unwrap();
    let session = opened.headers()["mcp-session-id"]
        .to_str()
        .unwrap()
        .to_owned();
    for replica in &replicas {
        for (name, status) in [("ada", StatusCode::OK), ("eve", StatusCode::NOT_FOUND)] {
            let call = by(in_session(&session, &call("add", json!({}))), name);
            let answer = replica.clone().oneshot(call).await.unwrap();
            assert_eq!(answer.status(), status, "{name}");
        }
    }
}

#[tokio::test]
async fn a_suspended_request_goes_on_at_the_replica_that_keeps_it_wherever_its_client_retries() {
    let backplane = Memory::new();
    retries_elsewhere(backplane.clone(), backplane).await;
}

#[tokio::test]
async fn a_request_that_a_replica_suspends_as_it_joins_goes_on_wherever_its_client_retries() {
    let keeps = Cut::default();
    let other = Cut {
        memory: keeps.memory.clone(),
        joining: Some(Arc::clone(&keeps.sent)),
        ..Cut::default()
    };
    retries_elsewhere(keeps, other).await;
}

/// Suspends a request at one replica, and retries it at the other.
async fn retries_elsewhere(keeps: impl Backplane, other: impl Backplane) {
    let of =
        |options| Service::with_options(server().with_request_state_key(KEY), curious, options);
    let replicas = [
        of(Options::new().with_backplane(keeps)),
        of(Options::new().with_backplane(other)),
    ];
    let asked = message(call_by(json!({"name": "t"})).to(&replicas[0]).await).await;
    let asked = &asked["result"];
    let name = asked["inputRequests"]
        .as_object()
        .unwrap()
        .keys()
        .next()
        .unwrap();
    let responses = json!({name: {"roots": [{"uri": "file:///a"}]}});
    let retry =
        json!({"name": "t", "requestState": asked["requestState"], "inputResponses": responses});
    let answer = message(call_by(retry).to(&replicas[1]).await).await;
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("file:///a"), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn a_session_that_was_opened_before_there_were_other_replicas_goes_on_once_there_are() {
    let backplane = Memory::new();
    let served = || {
        let options = Options::new().with_backplane(backplane.clone());
        let options = options.with_idle_timeout(Duration::from_secs(80));
        replica(&Changes::new()).into_http_service(options)
    };
    let first = served();
    let session = open(&first, "2025-11-25").await;
    let second = served();
    open(&first, "2025-11-25").await;
    // Records are refreshed meanwhile.
    tokio::time::sleep(Duration::from_secs(30)).await;
    let call = in_session(&session, &call("add", json!({})));
    assert_eq!(call.to(&first).await.status(), StatusCode::OK);
    drop(second);
}

/// A backplane over which one replica cannot send for a while.
#[derive(Clone, Default)]
struct Cut {
    memory: Memory,
    is_away: Arc<AtomicBool>,
    /// Set if what it sends is lost.
    is_deaf: Arc<AtomicBool>,
    /// The number of messages that were sent.
    sent: Arc<AtomicUsize>,
    failed: Arc<Notify>,
    receiver: Arc<Mutex<Option<Weak<dyn Receiver>>>>,
    /// The number of messages that another replica has sent, which is not found before its first one.
    joining: Option<Arc<AtomicUsize>>,
    /// Says that a record was saved, before the replica that saves it hears that.
    saving: Option<Arc<(Notify, Notify)>>,
}

impl Cut {
    fn is_back(&self) {
        self.is_away.store(false, Ordering::SeqCst);
        let receiver = self.receiver.lock().unwrap().clone();
        receiver.unwrap().upgrade().unwrap().reconnected();
    }
}

impl Backplane for Cut {
    fn join(&self, receiver: Weak<dyn Receiver>) -> Arc<str> {
        *self.receiver.lock().unwrap() = Some(Weak::clone(&receiver));
        self.memory.join(receiver)
    }

    fn send(&self, to: ReplicaTarget<'_>, message: Vec<u8>) -> Reply<bool> {
        if self.is_away.load(Ordering::SeqCst) {
            self.failed.notify_one();
            return Box::pin(std::future::ready(Err(Unavailable("away".to_owned()))));
        }
        if self.is_deaf.load(Ordering::SeqCst) {
            return Box::pin(std::future::ready(Ok(true)));
        }
        if (self.joining.as_ref()).is_some_and(|sent| sent.load(Ordering::SeqCst) == 0) {
            return Box::pin(std::future::ready(Ok(false)));
        }
        self.sent.fetch_add(1, Ordering::SeqCst);
        self.memory.send(to, message)
    }

    fn save(
        &self,
        id: &str,
        record: &SessionRecord,
        of: Option<&str>,
        keep: Duration,
    ) -> Reply<bool> {
        let saved = self.memory.save(id, record, of, keep);
        let Some(saving) = self.saving.clone() else {
            return saved;
        };
        Box::pin(async move {
            let saved = saved.await;
            saving.0.notify_one();
            saving.1.notified().await;
            saved
        })
    }

    fn find(&self, session: &str) -> Reply<Option<SessionRecord>> {
        self.memory.find(session)
    }

    fn end(&self, session: &str) -> Reply<()> {
        self.memory.end(session)
    }

    fn append(&self, session: &str, owner: &Owner, event: KeptEvent) {
        self.memory.append(session, owner, event);
    }

    fn after(&self, session: &str, event: EventId) -> Reply<Option<Vec<KeptEvent>>> {
        self.memory.after(session, event)
    }

    fn tasks(&self) -> Arc<dyn TaskStore> {
        self.memory.tasks()
    }
}

#[tokio::test]
async fn an_answer_that_cannot_be_sent_to_its_client_becomes_an_error_once_the_backplane_is_back() {
    let cut = Cut::default();
    let options = Options::new().with_backplane(cut.clone());
    let home = replica(&Changes::new()).into_http_service(options);
    let options = Options::new().with_backplane(cut.memory.clone());
    let other = replica(&Changes::new()).into_http_service(options);
    let session = open(&home, "2025-11-25").await;
    cut.is_away.store(true, Ordering::SeqCst);
    let call = in_session(&session, &call("add", json!({})));
    let answered = async { message(call.to(&other).await).await };
    let both = async {
        tokio::join!(answered, async {
            cut.failed.notified().await;
            cut.is_back();
        })
    };
    let both = tokio::time::timeout(Duration::from_secs(10), both).await;
    let (answer, ()) = both.expect("an answer in time");
    let why = answer["error"]["message"].as_str().unwrap();
    assert!(why.contains("gone"), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_waits_for_no_other_does_not_ask_whether_it_is_there() {
    let cut = Cut::default();
    let options = Options::new().with_backplane(cut.memory.clone());
    let home = replica(&Changes::new()).into_http_service(options);
    let options = Options::new().with_backplane(cut.clone());
    let other = replica(&Changes::new()).into_http_service(options);
    let session = open(&home, "2025-11-25").await;
    let params = json!({"name": "waits", "arguments": {}, "_meta": {"progressToken": "p"}});
    let waiting = in_session(&session, &request(7, "tools/call", params));
    let mut stream = waiting.to(&other).await.into_body();
    next(&mut stream).await;
    let minute = Duration::from_secs(60);
    let sent = cut.sent.load(Ordering::SeqCst);
    tokio::time::sleep(minute).await;
    assert!(cut.sent.load(Ordering::SeqCst) > sent, "it may be gone");
    drop(stream);
    tokio::task::yield_now().await;
    let sent = cut.sent.load(Ordering::SeqCst);
    tokio::time::sleep(minute).await;
    assert_eq!(cut.sent.load(Ordering::SeqCst), sent);
}

#[tokio::test]
async fn a_session_goes_on_where_it_was_taken_over_though_the_client_that_asked_hung_up() {
    let saving = Arc::new((Notify::new(), Notify::new()));
    let cut = Cut {
        saving: Some(Arc::clone(&saving)),
        ..Cut::default()
    };
    let options = Options::new().with_backplane(cut.memory.clone());
    let home = replica(&Changes::new()).into_http_service(options);
    let options = Options::new().with_backplane(cut);
    let other = replica(&Changes::new()).into_http_service(options);
    let session = open(&home, "2025-11-25").await;
    home.close();
    home.leave();
    drop(home);
    let add = || in_session(&session, &call("add", json!({}))).to(&other);
    tokio::select! {
        _ = add() => panic!("the record is not saved yet"),
        () = saving.0.notified() => {}
    }
    saving.1.notify_one();
    let answer = message(add().await).await;
    assert_eq!(answer["result"]["content"][0]["text"], "3", "{answer}");
}

/// A replica of the build before frames had a version: it sends the frames in files, and takes note of those that it gets.
struct OldReplica(tokio::sync::mpsc::UnboundedSender<String>);

impl Receiver for OldReplica {
    fn receive(&self, message: &[u8]) {
        let _ = self.0.send(String::from_utf8_lossy(message).into_owned());
    }
}

/// A message of the build before, as it was written then.
fn old(name: &str, from: &str, number: &str, session: &str) -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/replicas-0");
    let text = std::fs::read_to_string(format!("{path}/{name}")).unwrap();
    text.replace("FROM", from)
        .replace("NUMBER", number)
        .replace("SESSION", session)
}

#[tokio::test]
async fn replicas_of_the_build_before_and_of_this_one_work_for_each_other() {
    let memory = Memory::new();
    let options = Options::new().with_backplane(memory.clone());
    let ours = replica(&Changes::new()).into_http_service(options);
    let (sender, mut inbox) = tokio::sync::mpsc::unbounded_channel();
    let theirs: Arc<dyn Receiver> = Arc::new(OldReplica(sender));
    let address = memory.join(Arc::downgrade(&theirs));
    let kind = |frame: &str| {
        let head: Value = serde_json::from_str(frame.lines().next().unwrap().get(1..)?).ok()?;
        Some(head["kind"].as_str()?.to_owned())
    };
    let mut next_of = async |wanted: &str| {
        loop {
            let frame = tokio::time::timeout(Duration::from_secs(20), inbox.recv());
            let frame: String = frame.await.expect("a frame in time").unwrap();
            // Frames that the build before does not know are nothing to it.
            if kind(&frame).as_deref() == Some(wanted) {
                return frame;
            }
        }
    };

    // It passes a request to a session of ours.
    let session = open(&ours, "2025-11-25").await;
    let record = memory.find(&session).await.unwrap().unwrap();
    let frame = old("request", &address, "3", &session);
    let sent = memory.send(ReplicaTarget::One(&record.home), frame.into_bytes());
    assert_eq!(sent.await, Ok(true));
    let head = next_of("head").await;
    assert!(
        head.contains(r#""number":"3""#) && head.contains(r#""text":"3""#),
        "{head}"
    );

    // We pass one to a session of its own, and it responds whole or in pieces.
    let session = "0123456789abcdef0123456789abcdef";
    let record = SessionRecord::from_text(&old("record", &address, "", "")).unwrap();
    let saved = memory.save(session, &record, None, Duration::from_secs(60));
    assert_eq!(saved.await, Ok(true));
    for (answers, text) in [(&["head"][..], "5"), (&["stream", "data", "end"], "6")] {
        let asked =
            async { body(in_session(session, &call("add", json!({}))).to(&ours).await).await };
        let answered = async {
            let request = next_of("request").await;
            let head: Value = serde_json::from_str(&request.lines().next().unwrap()[1..]).unwrap();
            for name in answers {
                let frame = old(name, &address, head["number"].as_str().unwrap(), "");
                let to = head["from"].as_str().unwrap();
                let sent = memory.send(ReplicaTarget::One(to), frame.into_bytes());
                assert_eq!(sent.await, Ok(true));
            }
        };
        let (answer, ()) = tokio::join!(asked, answered);
        let expected = format!(r#""text":"{text}""#);
        assert!(answer.contains(&expected), "{answer}");
    }

    // What neither understands is answered, with both versions.
    let frame =
        old("request", &address, "4", session).replace(r#""isLast":true"#, r#""version":"9""#);
    let home = next_home(&memory, &ours).await;
    memory
        .send(ReplicaTarget::One(&home), frame.into_bytes())
        .await
        .unwrap();
    let refused = next_of("head").await;
    assert!(
        refused.contains(r#""status":"503""#) && refused.contains("got 9"),
        "{refused}"
    );
}

/// Returns the address of a replica.
async fn next_home(memory: &Memory, service: &Service) -> String {
    let session = open(service, "2025-11-25").await;
    memory.find(&session).await.unwrap().unwrap().home
}

/// Two replicas, of which the other way of the first one may be cut, and a session of the first.
async fn home_and_other(cut: &Cut, cut_is_home: bool) -> (Service, Service, String) {
    let ways: [Options; 2] = [
        Options::new().with_backplane(cut.clone()),
        Options::new().with_backplane(cut.memory.clone()),
    ];
    let [cut_off, other] = ways.map(|options| replica(&Changes::new()).into_http_service(options));
    let (home, other) = if cut_is_home {
        (cut_off, other)
    } else {
        (other, cut_off)
    };
    let session = open_with_roots(&home).await;
    (home, other, session)
}

#[tokio::test(start_paused = true)]
async fn a_response_of_which_a_piece_cannot_be_sent_ends_though_nobody_noticed_that_the_backplane_was_away()
 {
    let cut = Cut::default();
    let (_home, other, session) = home_and_other(&cut, true).await;
    cut.is_away.store(true, Ordering::SeqCst);
    let call = in_session(&session, &call("add", json!({})));
    let answered = async { message(call.to(&other).await).await };
    let back = async {
        cut.failed.notified().await;
        // It is there again before a beat has failed.
        cut.is_away.store(false, Ordering::SeqCst);
    };
    let both = async { tokio::join!(answered, back) };
    let both = tokio::time::timeout(Duration::from_secs(60), both).await;
    let (answer, ()) = both.expect("an answer in time");
    let why = answer["error"]["message"].as_str().unwrap();
    assert!(why.contains("could not be reached"), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_is_there_and_says_nothing_is_not_waited_for() {
    // A client of a revision with streams that end in the middle resumes; another one gets an error.
    for version in ["2025-11-25", "2025-06-18"] {
        let cut = Cut::default();
        let (_home, other, session) = home_and_other(&cut, true).await;
        let params = json!({"name": "waits", "arguments": {}, "_meta": {"progressToken": "p"}});
        let waiting = in_session(&session, &request(7, "tools/call", params))
            .with("MCP-Protocol-Version", version);
        let mut stream = waiting.to(&other).await.into_body();
        next(&mut stream).await;
        // It answers when it is asked, and then no more.
        tokio::time::sleep(Duration::from_secs(60)).await;
        cut.is_deaf.store(true, Ordering::SeqCst);
        let rest = tokio::time::timeout(Duration::from_secs(30), stream.collect()).await;
        let rest = rest.expect("it ends").unwrap().to_bytes();
        let is_error = String::from_utf8_lossy(&rest).contains("could not be reached");
        assert_eq!(is_error, version == "2025-06-18", "{rest:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_to_a_question_that_cannot_be_passed_on_is_kept_and_tried_again() {
    for (away, status) in [
        (5, StatusCode::ACCEPTED),
        (15, StatusCode::SERVICE_UNAVAILABLE),
    ] {
        let cut = Cut::default();
        let (home, other, session) = home_and_other(&cut, false).await;
        let asking = in_session(&session, &call("asks", json!({})));
        let mut stream = asking.to(&home).await.into_body();
        let (_, question) = next(&mut stream).await;
        cut.is_away.store(true, Ordering::SeqCst);
        let back = tokio::spawn({
            let is_away = Arc::clone(&cut.is_away);
            async move {
                tokio::time::sleep(Duration::from_secs(away)).await;
                is_away.store(false, Ordering::SeqCst);
            }
        });
        let roots = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": [{"uri": "file:///a"}]}});
        let taken = in_session(&session, &roots).to(&other).await;
        assert_eq!(taken.status(), status);
        let retry = taken
            .headers()
            .get("retry-after")
            .map(|it| it.to_str().unwrap());
        assert_eq!(retry, (away > 10).then_some("30"));
        back.await.unwrap();
        let (_, answer) = next(&mut stream).await;
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("file:///a"), "{answer}");
    }
}

#[tokio::test]
async fn a_session_whose_record_was_evicted_is_found_at_its_replica() {
    let memory = Memory::new();
    let service = || {
        let options = Options::new().with_backplane(memory.clone());
        replica(&Changes::new()).into_http_service(options)
    };
    let (home, other) = (service(), service());
    let session = open(&home, "2025-11-25").await;
    memory.end(&session).await.unwrap();
    let answer = in_session(&session, &call("add", json!({})))
        .to(&other)
        .await;
    assert_eq!(answer.status(), StatusCode::OK);
    // One that has ended is not found.
    let end = in_session(&session, &json!(0)).request(Method::DELETE);
    let ended = home.clone().oneshot(end).await.unwrap();
    assert_eq!(ended.status(), StatusCode::NO_CONTENT);
    let gone = in_session(&session, &call("add", json!({})))
        .to(&other)
        .await;
    assert_eq!(gone.status(), StatusCode::NOT_FOUND);
}
