//! Streams of task notifications. A stream spawns a task for each protocol task that it follows.

use std::sync::{Arc, Weak};
use std::time::Duration;

use mcp_revisions_core::Revision;
use mcp_wire::{ErrorObject, Json};

use super::{Peer, Tasks, owner_of, wait};
use crate::transport::spawn::spawn;
use mcp_revisions_core::methods;
use mcp_revisions_sansio::Fate;
use mcp_revisions_sansio::driver::server::tasks::task_detail;

/// Time between two reads of a task that has not changed: its replica may be gone.
const QUIET: Duration = Duration::from_secs(5);

/// Acknowledges a stream, with those of the tasks that its client asked for which it may use, and tells of them.
pub(super) async fn acknowledge(tasks: &Arc<Tasks>, peer: &Peer, params: Option<&Json>) -> Fate {
    let method = methods::NOTIFICATIONS_SUBSCRIPTIONS_ACKNOWLEDGED;
    let Some((revision, wanted)) = peer.driver.task_ids(peer.token) else {
        // The call that listens for a session is not a stream of its client, and tells of no task.
        return peer.notify_in_turn(method, params).await;
    };
    let owner = owner_of(peer, revision);
    let mut agreed = Vec::new();
    for id in wanted {
        match tasks.find(&id, owner.as_deref()).await {
            Ok(_) => agreed.push(id),
            // Its client comes again, instead of hearing of no task.
            Err(refusal) if refusal.may_pass() => {
                peer.driver.refused(peer.token, *refusal);
                return Fate::Unknown;
            }
            Err(_) => {}
        }
    }
    peer.driver.agree_to_tasks(peer.token, agreed.clone());
    let fate = peer.notify_in_turn(method, params).await;
    for id in agreed {
        // A stream does not keep the tasks.
        let peer = Peer {
            task: None,
            ..peer.clone()
        };
        spawn(tell(
            Arc::downgrade(tasks),
            peer,
            revision,
            id,
            owner.clone(),
        ));
    }
    fate
}

/// Serves a stream whose handlers have none, if its client asked for tasks.
pub(super) async fn without_handler(peer: &Peer, error: ErrorObject) -> Result<Json, ErrorObject> {
    let wanted = peer.driver.task_ids(peer.token);
    let has_none = wanted.is_none_or(|(_, ids)| ids.is_empty());
    if has_none || error.code.as_i64() != Some(ErrorObject::METHOD_NOT_FOUND) {
        return Err(error);
    }
    let params = Json::from_text(r#"{"notifications":{}}"#).ok();
    let method = methods::NOTIFICATIONS_SUBSCRIPTIONS_ACKNOWLEDGED;
    let _ = peer.notify(method, params.as_ref()).await;
    // Until its client hangs up, or the server stops.
    std::future::pending().await
}

/// Sends the status of a task, now and with each change, until the task or the stream has ended.
async fn tell(
    tasks: Weak<Tasks>,
    peer: Peer,
    revision: Revision,
    id: String,
    owner: Option<String>,
) {
    let mut told = None;
    while let Some(tasks) = tasks.upgrade() {
        let changed = tasks.subscribe(&id);
        match tasks.find(&id, owner.as_deref()).await {
            Ok(task) => {
                let is_news = told.replace(task.version) != Some(task.version);
                let state = task_detail(&peer.server, &task, revision);
                if is_news && !peer.driver.tell_of_task(peer.token, &state).await {
                    return;
                }
                if task.status.is_terminal() {
                    return;
                }
            }
            // It has expired; a store that is away comes again.
            Err(refusal) if refusal.error.code.as_i64() == Some(ErrorObject::INVALID_PARAMS) => {
                return;
            }
            Err(_) => {}
        }
        if peer.driver.task_ids(peer.token).is_none() {
            return;
        }
        drop(tasks);
        wait(changed, QUIET).await;
    }
}
