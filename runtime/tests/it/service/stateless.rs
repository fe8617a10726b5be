//! Handlers whose calls start over with the answers: they run anew after each question, for peers of every revision.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_revisions::mcp_wire::Json;
use mcp_revisions::service::{Error, RequestContext, Router};
use mcp_revisions::{Latest, Lifecycle, Revision};
use serde_json::json;

use crate::service::peer::{Peer, revisions};
use crate::support::{says, served};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Name {
    name: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Age {
    age: u32,
}

/// A router, and how often its handler was begun.
fn router() -> (Router, Arc<AtomicUsize>) {
    let begun = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&begun);
    let both = move |cx: RequestContext<Latest>| {
        let run = count.fetch_add(1, Ordering::SeqCst);
        async move {
            let cx = cx.stateless();
            let Name { name } = cx.elicit("Who are you?").await?;
            let Age { age } = cx.elicit(&format!("How old is {name}?")).await?;
            Ok::<_, Error>(format!("{name}, {age}, after {run} more"))
        }
    };
    (Router::new().tool("both", "Asks twice.", both), begun)
}

#[tokio::test]
async fn a_call_starts_over_with_each_answer_and_is_not_kept_meanwhile() {
    for revision in revisions() {
        let mut methods = revision.methods().iter();
        if !methods.any(|method| method.name == "elicitation/create") {
            continue;
        }
        let (router, begun) = router();
        let running = router.build("example", "1").unwrap();
        let mut peer = Peer::connect(revision, served(running)).await;
        let accept = |content| json!({"action": "accept", "content": content});
        peer.answers = vec![accept(json!({"name": "Ada"})), accept(json!({"age": 36}))];
        let result = peer.call("tools/call", json!({"name": "both"})).await;
        let said = result.unwrap()["content"][0]["text"].clone();
        assert_eq!(said, "Ada, 36, after 2 more", "{revision}");
        assert_eq!(begun.load(Ordering::SeqCst), 3, "{revision}");
        assert_eq!(peer.asked[1]["params"]["message"], "How old is Ada?");
        if revision.lifecycle() == Lifecycle::PerRequest {
            // Replicas of other builds have to give it the same name.
            assert_eq!(peer.names[0], "0-a640a5bc5d0e66b0");
            // What was answered to another question is no answer: it is asked anew.
            let forged =
                json!({"0-0000000000000000": {"action": "accept", "content": {"name": "Eve"}}});
            peer.answers = vec![accept(json!({"name": "Ada"})), json!({"action": "decline"})];
            let made_up = json!({"name": "both", "inputResponses": forged, "requestState": "{}"});
            let refused = peer.call("tools/call", made_up).await.unwrap_err();
            assert_eq!(refused["code"], -32602, "{refused}");
            let params = json!({"name": "both", "inputResponses": forged});
            let result = peer.result("tools/call", params).await;
            assert_eq!(result["content"][0]["text"], "the user declined to answer");
            assert_eq!(peer.asked[2]["params"]["message"], "Who are you?");
        }
    }
}

/// An error of an application: its type says nothing of this library's.
#[derive(Debug)]
struct Failure(String);

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self(format!("it failed: {error}"))
    }
}

#[tokio::test]
async fn a_question_is_asked_whatever_the_handler_makes_of_its_error() {
    let handing_on = |cx: RequestContext<Latest>| async move {
        let Name { name } = cx.stateless().elicit("Who are you?").await?;
        Ok::<_, Failure>(name)
    };
    let swallowing = |cx: RequestContext<Latest>| async move {
        let answer = cx.stateless().elicit::<Name>("Who are you?").await;
        answer.map_or_else(|_| "nobody".to_owned(), |it| it.name)
    };
    let router =
        Router::new()
            .tool("handing-on", "", handing_on)
            .tool("swallowing", "", swallowing);
    let running = router.build("example", "1").unwrap();
    let mut peer = Peer::connect(Revision::LATEST, served(running)).await;
    for name in ["handing-on", "swallowing"] {
        peer.answers = vec![json!({"action": "accept", "content": {"name": "Ada"}})];
        let result = peer.result("tools/call", json!({"name": name})).await;
        assert_eq!(result["content"][0]["text"], "Ada", "{name}: {result}");
    }
}

/// A client of the latest revision, at a replica with these keys.
async fn replica(keys: &[u8]) -> Peer {
    let running = router().0.build("example", "1").unwrap();
    let running = (keys.iter()).fold(running, |it, key| it.with_request_state_key([*key; 32]));
    Peer::connect(Revision::LATEST, served(running)).await
}

#[tokio::test]
async fn what_one_replica_asks_is_answered_at_another_with_its_key_and_refused_at_any_other() {
    let mut first = replica(&[1]).await;
    let asked = first.once("tools/call", json!({"name": "both"})).await;
    let asked = asked.unwrap();
    let question = asked["inputRequests"].as_object().unwrap().keys().next();
    let ada = json!({"action": "accept", "content": {"name": "Ada"}});
    let again = json!({"name": "both", "requestState": asked["requestState"], "inputResponses": {question.unwrap(): ada}});
    for (keys, is_taken) in [
        (&[1][..], true),
        (&[2, 1], true),
        (&[2], false),
        (&[], false),
    ] {
        let answer = replica(keys).await.once("tools/call", again.clone()).await;
        match answer {
            Ok(result) => {
                let mut questions = result["inputRequests"].as_object().unwrap().values();
                let message = &questions.next().unwrap()["params"]["message"];
                assert_eq!((message, is_taken), (&json!("How old is Ada?"), true));
            }
            Err(error) => assert_eq!((&error["code"], is_taken), (&json!(-32602), false)),
        }
    }
}

#[tokio::test]
async fn a_state_that_is_good_for_one_retry_is_refused_the_second_time() {
    let (router, begun) = router();
    let running = router.build("example", "1").unwrap().with_one_time_state();
    let mut peer = Peer::connect(Revision::LATEST, served(running)).await;
    let ada = json!({"action": "accept", "content": {"name": "Ada"}});
    // Two calls that ask the same at one time have a state each.
    let mut retries = Vec::new();
    for _ in 0..2 {
        let asked = peer
            .once("tools/call", json!({"name": "both"}))
            .await
            .unwrap();
        let question = asked["inputRequests"].as_object().unwrap().keys().next();
        retries.push(json!({"name": "both", "requestState": asked["requestState"], "inputResponses": {question.unwrap(): ada}}));
    }
    for retry in &retries {
        let result = peer.once("tools/call", retry.clone()).await.unwrap();
        assert_eq!(result["resultType"], "input_required");
    }
    assert_eq!(begun.load(Ordering::SeqCst), 4);
    for retry in retries {
        let error = peer.once("tools/call", retry).await.unwrap_err();
        assert_eq!(error["code"], -32602);
        says(&error["message"], "good for one retry");
    }
    assert_eq!(
        begun.load(Ordering::SeqCst),
        4,
        "the handler did not run again"
    );
}

#[tokio::test]
async fn a_custom_method_has_no_result_with_a_question_and_asks_by_a_request() {
    for revision in revisions() {
        let running = router().0.build("example", "1").unwrap();
        let running =
            running.custom_method("acme/greet", |_, cx: RequestContext<Latest>| async move {
                let Name { name } = cx.stateless().elicit("Who are you?").await?;
                Ok(Json::from(json!({"name": name})))
            });
        let mut peer = Peer::connect(revision, served(running)).await;
        peer.answers = vec![json!({"action": "accept", "content": {"name": "Ada"}})];
        let greeted = peer.call("acme/greet", json!({})).await;
        let mut methods = revision.methods().iter();
        let can_ask = methods.any(|method| method.name == "elicitation/create");
        match revision.lifecycle() {
            Lifecycle::Handshake if can_ask => assert_eq!(greeted.unwrap()["name"], "Ada"),
            Lifecycle::Handshake => drop(greeted.unwrap_err()),
            Lifecycle::PerRequest => {
                let why = greeted.unwrap_err()["message"].to_string();
                assert!(why.contains("can be asked while it calls a tool"), "{why}");
            }
        }
    }
}
