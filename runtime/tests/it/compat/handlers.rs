//! Handlers as somebody would write them who knows one revision: questions, subscriptions, logs, progress.

use std::sync::{Arc, Mutex};

use mcp_revisions::mcp_wire::{ErrorObject, Json};
use mcp_revisions::sansio::server::{IncomingRequest, Profile, Server};
use mcp_revisions::serve::{Handler, Peer, Session};
use mcp_revisions::{Lifecycle, Revision, sansio::errors};
use serde_json::{Value, json};
use tokio::sync::{broadcast, watch};

pub(crate) const FILE: &str = "file:///a";

pub(crate) fn server(app: Revision) -> Server {
    let info = Json::from(json!({"name": "compat", "version": "1.0"}));
    let capabilities = json!({"tools": {"listChanged": true}, "prompts": {}, "logging": {},
        "resources": {"subscribe": true, "listChanged": true}});
    Server::new(app, Profile::new(&info, &Json::from(capabilities))).unwrap()
}

/// What happens to the things that are served.
#[derive(Clone)]
pub(crate) struct Handlers {
    lifecycle: Lifecycle,
    changes: broadcast::Sender<(&'static str, Value)>,
    sessions: Arc<Mutex<Vec<Session>>>,
    watched: Arc<Mutex<Vec<(String, Session)>>>,
    /// How often the file is watched, and how many calls hang: by these a client sees that it has come so far.
    watching: Count,
    hanging: Count,
}

type Count = Arc<watch::Sender<usize>>;

impl Handlers {
    pub(crate) fn new(lifecycle: Lifecycle) -> Self {
        Self {
            lifecycle,
            changes: broadcast::channel(64).0,
            sessions: Arc::default(),
            watched: Arc::default(),
            watching: Arc::default(),
            hanging: Arc::default(),
        }
    }

    async fn answer(&self, call: IncomingRequest, peer: Peer) -> Result<Value, ErrorObject> {
        let params: Value = call.params.parse().unwrap();
        match (call.method, self.lifecycle) {
            ("tools/call", _) => self.tool(&call, &params, &peer).await,
            ("tools/list", Lifecycle::PerRequest) => Ok(
                json!({"resultType": "complete", "tools": [], "ttlMs": 0, "cacheScope": "private"}),
            ),
            ("tools/list", Lifecycle::Handshake) => Ok(json!({"tools": []})),
            ("subscriptions/listen", Lifecycle::PerRequest) => self.listen(&params, &peer).await,
            ("resources/subscribe", Lifecycle::Handshake) => {
                let uri = params["uri"].as_str().unwrap().to_owned();
                self.watched.lock().unwrap().push((uri, peer.session()));
                self.watching.send_modify(|count| *count += 1);
                Ok(json!({}))
            }
            ("resources/unsubscribe", Lifecycle::Handshake) => {
                let mut watched = self.watched.lock().unwrap();
                let index = watched.iter().position(|(uri, _)| params["uri"] == *uri);
                watched.swap_remove(index.unwrap());
                self.watching.send_modify(|count| *count -= 1);
                Ok(json!({}))
            }
            (other, lifecycle) => Err(errors::method_not_found(other, lifecycle).error),
        }
    }

    async fn tool(
        &self,
        call: &IncomingRequest,
        params: &Value,
        peer: &Peer,
    ) -> Result<Value, ErrorObject> {
        let text = match params["name"].as_str().unwrap() {
            "add" => {
                let number = |name: &str| params["arguments"][name].as_i64().unwrap();
                (number("a") + number("b")).to_string()
            }
            "ask" => match (self.lifecycle, params["inputResponses"].get("q")) {
                (Lifecycle::Handshake, _) => {
                    let (method, question) = question(&params["arguments"]["what"]);
                    peer.ask(method, Some(&Json::from(question)))
                        .await?
                        .to_string()
                }
                (Lifecycle::PerRequest, Some(answer)) => {
                    assert_eq!(params["requestState"], "what I know");
                    answer.to_string()
                }
                (Lifecycle::PerRequest, None) => {
                    let (method, question) = question(&params["arguments"]["what"]);
                    return Ok(
                        json!({"resultType": "input_required", "requestState": "what I know",
                        "inputRequests": {"q": {"method": method, "params": question}}}),
                    );
                }
            },
            "count" => {
                for step in 1..=3 {
                    if let Some(token) = &call.progress_token {
                        let token: Value = token.parse().unwrap();
                        let progress = json!({"progressToken": token, "progress": step});
                        let _ = (peer
                            .notify("notifications/progress", Some(&Json::from(progress))))
                        .await;
                    }
                    let log = json!({"level": "info", "data": step});
                    let _ = peer
                        .notify("notifications/message", Some(&Json::from(log)))
                        .await;
                }
                "counted".to_owned()
            }
            "touch" => {
                self.tell("notifications/resources/updated", json!({"uri": FILE}));
                "touched".to_owned()
            }
            "change" => {
                self.tell("notifications/tools/list_changed", json!({}));
                "changed".to_owned()
            }
            "hang" => {
                let _hanging = Counted::new(&self.hanging);
                std::future::pending().await
            }
            "hanging" => reaches(&self.hanging, params).await,
            "watched" => reaches(&self.watching, params).await,
            other => panic!("no tool {other}"),
        };
        let mut result = json!({"content": [{"type": "text", "text": text}]});
        if self.lifecycle == Lifecycle::PerRequest {
            result["resultType"] = json!("complete");
        }
        Ok(result)
    }

    fn tell(&self, method: &'static str, params: Value) {
        if self.lifecycle == Lifecycle::PerRequest {
            let _ = self.changes.send((method, params));
            return;
        }
        let told = Some(Json::from(params));
        match method {
            "notifications/resources/updated" => {
                for (uri, session) in &*self.watched.lock().unwrap() {
                    assert_eq!(uri, FILE);
                    let _ = session.notify(method, told.as_ref());
                }
            }
            _ => {
                for session in &*self.sessions.lock().unwrap() {
                    let _ = session.notify(method, None);
                }
            }
        }
    }

    async fn listen(&self, params: &Value, peer: &Peer) -> Result<Value, ErrorObject> {
        let mut changes = self.changes.subscribe();
        let wanted = params["notifications"].clone();
        let uris = wanted["resourceSubscriptions"].as_array();
        let watches = uris.is_some_and(|uris| uris.contains(&json!(FILE)));
        let _watching = watches.then(|| Counted::new(&self.watching));
        let agreed = Json::from(json!({"notifications": wanted}));
        let _ = (peer.notify("notifications/subscriptions/acknowledged", Some(&agreed))).await;
        while let Ok((method, params)) = changes.recv().await {
            let wants = match method {
                "notifications/resources/updated" => wanted["resourceSubscriptions"]
                    .as_array()
                    .is_some_and(|uris| uris.contains(&params["uri"])),
                _ => wanted["toolsListChanged"] == true,
            };
            if wants {
                let _ = peer.notify(method, Some(&Json::from(params))).await;
            }
        }
        Ok(json!({"resultType": "complete"}))
    }
}

fn question(what: &Value) -> (&'static str, Value) {
    match what.as_str().unwrap() {
        "elicit" => (
            "elicitation/create",
            json!({"message": "who?", "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}}),
        ),
        "sample" => (
            "sampling/createMessage",
            json!({"messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}], "maxTokens": 5}),
        ),
        "roots" => ("roots/list", json!({})),
        other => panic!("no question {other}"),
    }
}

impl Handler for Handlers {
    async fn call(&self, call: IncomingRequest, peer: Peer) -> Result<Json, ErrorObject> {
        self.answer(call, peer).await.map(Json::from)
    }

    fn on_initialized(&self, session: Session) {
        self.sessions.lock().unwrap().push(session);
    }
}

/// Waits until as many are counted as the arguments say.
async fn reaches(count: &Count, params: &Value) -> String {
    let wanted = params["arguments"]["count"].as_u64().unwrap();
    let mut count = count.subscribe();
    let there = count.wait_for(|count| *count as u64 == wanted).await;
    there.unwrap().to_string()
}

/// Counts for as long as it is there.
struct Counted(Count);

impl Counted {
    fn new(count: &Count) -> Self {
        count.send_modify(|count| *count += 1);
        Self(Arc::clone(count))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}
