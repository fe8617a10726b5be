//! The three homes of tasks: the core of a handshake revision, the extension, and a core that has the extension's messages
//! again. No revision has the last one yet, so the latest one is taken for it.

use mcp_revisions::{Revision, RevisionSet};
use serde_json::{Value, json};

use super::{CORE, EXTENSION, World, call, task_call, until};
use crate::service::peer::Peer;

/// The revisions that are taken to have the extension's messages in their core.
fn returned() -> RevisionSet {
    RevisionSet::none().with(Revision::LATEST)
}

/// A client, as it is before a server with tasks.
struct Case {
    name: &'static str,
    revision: Revision,
    /// The revisions whose core has the extension's messages.
    core: RevisionSet,
    declares: bool,
}

impl Case {
    async fn peer(&self, world: &World) -> Peer {
        let server = world.server(|options| options.with_extension_in_core(self.core));
        let peer = world.peer_of(server, self.revision).await;
        if self.declares {
            peer.with_extension(EXTENSION)
        } else {
            peer
        }
    }
}

const EXTENSION_PEER: Case = Case {
    name: "extension",
    revision: Revision::LATEST,
    core: RevisionSet::none(),
    declares: true,
};

fn returned_core() -> Case {
    Case {
        name: "core that has the extension again",
        core: returned(),
        declares: false,
        ..EXTENSION_PEER
    }
}

/// Returns what a server declares to a client.
async fn declared(peer: &mut Peer, case: &Case) -> Value {
    if case.revision == CORE {
        return peer.opened["capabilities"].clone();
    }
    let discovered = peer.once("server/discover", json!({})).await.unwrap();
    discovered["capabilities"].clone()
}

#[tokio::test]
async fn a_server_announces_tasks_where_the_revision_of_its_client_has_them() {
    let tools = json!({"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}});
    let core = Case {
        name: "core",
        revision: CORE,
        core: RevisionSet::none(),
        declares: false,
    };
    let entry = json!({EXTENSION: {}});
    for (case, tasks, extensions) in [
        (core, Some(tools), None),
        (EXTENSION_PEER, None, Some(entry)),
        (returned_core(), Some(json!({})), None),
    ] {
        let mut peer = case.peer(&World::default()).await;
        let capabilities = declared(&mut peer, &case).await;
        assert_eq!(capabilities.get("tasks"), tasks.as_ref(), "{}", case.name);
        let said = capabilities.get("extensions");
        assert_eq!(said, extensions.as_ref(), "{}", case.name);
    }
}

#[tokio::test]
async fn a_client_of_the_core_asks_for_its_task_and_fetches_the_result_by_itself() {
    let mut peer = World::default().peer(CORE).await;
    let created = peer.once("tools/call", task_call("asks")).await.unwrap();
    assert_eq!(created.get("resultType"), None);
    let id = &created["task"]["taskId"];
    peer.answers = vec![json!({"action": "accept", "content": {"name": "Ada"}})];
    let result = peer.once("tasks/result", json!({"taskId": id})).await;
    assert_eq!(result.unwrap()["content"][0]["text"], "Hello, Ada");
    let task = until(&mut peer, id, "completed").await;
    assert_eq!(
        (&task["ttl"], &task["pollInterval"]),
        (&json!(60_000), &json!(5))
    );
    for member in ["ttlMs", "pollIntervalMs", "resultType", "result"] {
        assert_eq!(task.get(member), None, "{member}: {task}");
    }
    let update = json!({"taskId": id, "inputResponses": {}});
    let unknown = peer.once("tasks/update", update).await.unwrap_err();
    assert_eq!(unknown["code"], -32601);
}

/// The messages are the same in both: only who declares what differs.
#[tokio::test]
async fn a_client_of_the_extension_and_one_of_a_core_that_has_it_again_exchange_the_same_messages()
{
    for case in [EXTENSION_PEER, returned_core()] {
        let name = case.name;
        let mut peer = case.peer(&World::default()).await;
        // The server decides: a call that asks for nothing is answered by a task, and one of a tool without tasks is not.
        let created = peer.once("tools/call", call("asks")).await.unwrap();
        assert_eq!(created["resultType"], "task", "{name}: {created}");
        let id = &created["taskId"];
        let asked = until(&mut peer, id, "input_required").await;
        let key = asked["inputRequests"].as_object().unwrap().keys().next();
        let accept = json!({"action": "accept", "content": {"name": "Ada"}});
        let update = json!({"taskId": id, "inputResponses": {key.unwrap(): accept}});
        peer.once("tasks/update", update).await.unwrap();
        let done = until(&mut peer, id, "completed").await;
        assert_eq!(done["resultType"], "complete", "{name}");
        assert_eq!(done["result"]["content"][0]["text"], "Hello, Ada", "{name}");
        assert_eq!(done["pollIntervalMs"], 5, "{name}: {done}");
        for member in ["ttl", "pollInterval"] {
            assert_eq!(done.get(member), None, "{name}: {done}");
        }
        let only = peer.once("tools/call", call("only")).await.unwrap();
        assert_eq!(only["resultType"], "task", "{name}");
        let plain = peer.once("tools/call", call("plain")).await.unwrap();
        assert_eq!(plain["resultType"], "complete", "{name}");
        // The server notifies of the task on a stream, and refuses the methods that only the older core has.
        let wanted = json!({"notifications": {"taskIds": [id]}});
        peer.begins("subscriptions/listen", wanted).await;
        let agreed = peer.hears("notifications/subscriptions/acknowledged").await;
        let agreed = &agreed["params"]["notifications"]["taskIds"];
        assert_eq!(*agreed, json!([id]), "{name}");
        for method in ["tasks/result", "tasks/list"] {
            let unknown = peer.once(method, json!({"taskId": id})).await.unwrap_err();
            assert_eq!(unknown["code"], -32601, "{name}: {method}");
        }
    }
}

/// Silence means something else in each: no tasks where they are an extension, tasks where they are in the core.
#[tokio::test]
async fn a_client_that_declares_nothing_has_tasks_only_where_its_core_has_them() {
    let silent = Case {
        declares: false,
        ..EXTENSION_PEER
    };
    let mut peer = silent.peer(&World::default()).await;
    let result = peer.once("tools/call", call("fails")).await.unwrap();
    assert_eq!(result["resultType"], "complete");
    for (method, params) in [
        ("tools/call", call("only")),
        ("tasks/get", json!({"taskId": "t"})),
        (
            "subscriptions/listen",
            json!({"notifications": {"taskIds": ["t"]}}),
        ),
    ] {
        let refused = peer.once(method, params).await.unwrap_err();
        assert_eq!(refused["code"], -32021, "{method}: {refused}");
    }
    let mut peer = returned_core().peer(&World::default()).await;
    let result = peer.once("tools/call", call("fails")).await.unwrap();
    assert_eq!(result["resultType"], "task");
}
