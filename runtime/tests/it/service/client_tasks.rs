//! Requests of a server that ask its client for a task: sampling as 2025-11-25 has it.

use mcp_revisions::latest::{self as mcp, ClientHandlers};
use mcp_revisions::mcp_wire::{ErrorObject, Json};
use mcp_revisions::sansio::server::{IncomingRequest, Profile, Server};
use mcp_revisions::serve::Peer as Asked;
use mcp_revisions::service::client::ClientContext;
use mcp_revisions::service::{Client, Error};
use mcp_revisions::{Latest, Revision, args, stdio};
use serde_json::{Value, json};
use tokio::io::{DuplexStream, duplex, split};

use crate::service::peer::Peer;

const CORE: Revision = Revision::V2025_11_25;

/// A server whose handlers speak 2025-11-25, and sample as a task where the client makes one.
fn serve(stream: DuplexStream) {
    let info = Json::from(json!({"name": "sampler", "version": "1"}));
    let profile = Profile::new(&info, &Json::from(json!({"tools": {}})));
    let server = Server::new(CORE, profile).unwrap();
    let (input, output) = split(stream);
    crate::support::spawn(stdio::serve_on(server, samples, input, output));
}

async fn samples(_: IncomingRequest, peer: Asked) -> Result<Json, ErrorObject> {
    let ask = async |method: &str, params: Value| {
        let answer = peer.ask(method, Some(&Json::from(params))).await?;
        Ok::<Value, ErrorObject>(answer.parse().unwrap())
    };
    let message = json!({"role": "user", "content": {"type": "text", "text": "Which day?"}});
    let params = json!({"messages": [message], "maxTokens": 10, "task": {"ttl": 60_000}});
    let mut sampled = ask("sampling/createMessage", params).await?;
    if let Some(id) = sampled["task"].get("taskId") {
        let looked = ask("tasks/get", json!({"taskId": id})).await?;
        assert_eq!(looked["status"], "completed");
        sampled = ask("tasks/result", json!({"taskId": id})).await?;
    }
    let result = json!({"content": [sampled["content"]]});
    Ok(Json::from(result))
}

fn sampled() -> Value {
    json!({"role": "assistant", "model": "none", "content": {"type": "text", "text": "Monday"}})
}

#[tokio::test]
async fn a_handler_samples_as_a_task_of_a_client_that_makes_one() {
    let (near, far) = duplex(1 << 16);
    serve(far);
    let mut peer = Peer::connect(CORE, near).await;
    let task = |status: &str| {
        json!({"taskId": "c1", "status": status, "createdAt": "2026-01-01T00:00:00Z",
            "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttl": 60_000})
    };
    let created = json!({"task": task("working")});
    peer.answers = vec![created, task("completed"), sampled()];
    let result = peer.once("tools/call", json!({"name": "sample"})).await;
    assert_eq!(result.unwrap()["content"][0]["text"], "Monday");
    let methods: Vec<&Value> = peer.asked.iter().map(|asked| &asked["method"]).collect();
    assert_eq!(
        methods,
        ["sampling/createMessage", "tasks/get", "tasks/result"]
    );
    assert_eq!(peer.asked[0]["params"]["task"]["ttl"], 60_000);
}

#[tokio::test]
async fn a_client_of_another_revision_is_asked_for_no_task() {
    for revision in [Revision::V2025_06_18, Revision::LATEST] {
        let (near, far) = duplex(1 << 16);
        serve(far);
        let mut peer = Peer::connect(revision, near).await;
        peer.answers = vec![sampled()];
        let result = peer.call("tools/call", json!({"name": "sample"})).await;
        assert_eq!(
            result.unwrap()["content"][0]["text"],
            "Monday",
            "{revision}"
        );
        assert_eq!(peer.asked[0]["params"].get("task"), None, "{revision}");
    }
}

/// Says which day it is.
struct Model;

impl ClientHandlers<ClientContext<Latest>> for Model {
    async fn create_message(
        &self,
        _: mcp::CreateMessageRequestParams,
        _: ClientContext<Latest>,
    ) -> Result<mcp::CreateMessageResult, Error> {
        Ok(Json::from(sampled()).read()?)
    }
}

#[tokio::test]
async fn a_client_without_tasks_of_its_own_answers_with_the_result() {
    let (near, far) = duplex(1 << 16);
    serve(far);
    let (input, output) = split(near);
    let client = Client::builder(&mcp::Implementation::new("client", args::Version("1")))
        .with_revisions([CORE].into_iter().collect())
        .with_handlers(Model)
        .lines(input, output);
    use mcp::CallServer as _;
    let called = client.call_tool(mcp::CallToolRequestParams::new("sample"));
    let result: Value = Json::of(&called.await.unwrap()).parse().unwrap();
    assert_eq!(result["content"][0]["text"], "Monday");
}
