//! Answers of clients to questions of the server: one that cannot be passed on is kept for a while, for its call waits for it.

use std::sync::Arc;
use std::time::Duration;

use http::request::Parts;
use http::{Response, StatusCode};
use mcp_wire::{MessageKind, peek};
use tokio::time::Instant;

use super::LOOK;
use super::home::FromReplica;
use crate::serve::Permit;
use crate::transport::http::Body;
use crate::transport::http::answers::{HttpResult, refused_for, status};
use crate::transport::http::inner::ServiceShared;
use crate::transport::spawn::{boxed, spawn};
use mcp_revisions_sansio::server::Owner;

/// Time for which an answer is tried again, and that `Retry-After` names.
const KEPT: Duration = Duration::from_secs(30);

/// Maximum time that a client waits until its answer has arrived.
const WAIT: Duration = Duration::from_secs(10);

impl ServiceShared {
    /// Takes a message. An answer to a question of the server that finds status 503 is tried again for 30 seconds, also once
    /// its client has status 503 or has hung up.
    pub(in crate::transport::http) async fn take_kept(
        self: &Arc<Self>,
        head: Box<Parts>,
        who: Owner,
        names_session: bool,
        (bytes, permit): (Vec<u8>, Permit),
    ) -> HttpResult {
        let is_answer = || {
            let kind = peek(&bytes).map(|message| message.kind);
            matches!(kind, Ok(MessageKind::Response | MessageKind::Error))
        };
        let is_shared = self.replica.backplane.is_shared();
        if !is_shared || head.extensions.get::<FromReplica>().is_some() || !is_answer() {
            let body = (bytes, permit);
            return self.take_message(head, who, names_session, body).await;
        }
        let inner = Arc::clone(self);
        let work = spawn(async move {
            let _kept = permit;
            inner.keep_trying(&head, &who, names_session, &bytes).await
        });
        match tokio::time::timeout(WAIT, work).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(_)) => Ok(status(StatusCode::INTERNAL_SERVER_ERROR)),
            Err(_) => {
                let seconds = KEPT.as_secs();
                let why = format!(
                    "the replica that waits for this answer cannot be reached: the answer is kept for {seconds} seconds, \
                     and passed on as soon as it can be"
                );
                Err(refused_for(seconds, &why).into())
            }
        }
    }

    async fn keep_trying(
        self: &Arc<Self>,
        head: &Parts,
        who: &Owner,
        names_session: bool,
        bytes: &[u8],
    ) -> Response<Body> {
        let end = Instant::now() + KEPT;
        let mut is_first = true;
        loop {
            let share = self.requests.of(who.clone());
            // An answer that was read once has room, unless others have taken it meanwhile.
            let response = match share.take(bytes.len()) {
                Ok(permit) => {
                    let body = (bytes.to_vec(), permit);
                    let taken =
                        self.take_message(Box::new(head.clone()), who.clone(), names_session, body);
                    boxed(taken).await.unwrap_or_else(|refused| *refused)
                }
                Err(full) => refused_for(1, &full.to_string()),
            };
            match response.status() {
                StatusCode::SERVICE_UNAVAILABLE if Instant::now() < end => {}
                // An earlier try has arrived, or the question has ended meanwhile.
                StatusCode::BAD_REQUEST if !is_first => return status(StatusCode::ACCEPTED),
                _ => return response,
            }
            is_first = false;
            tokio::time::sleep(LOOK).await;
        }
    }
}
