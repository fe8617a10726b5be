//! What a client asks is asked of the server, and what comes of it goes back.

use std::sync::Arc;

use mcp_registry::{Context, Part, Revision, Subject};
use mcp_revisions::client::Ask;
use mcp_revisions::serve::{Handler, Peer, Session};
use mcp_revisions::server::{Call, Notice};
use mcp_wire::{Direction, ErrorObject, Json};

use super::losses::Losses;
use super::upstream::{self, Upstream};

/// The handler of the bridge's end towards clients.
pub(super) struct Join {
    upstream: Upstream,
    losses: Arc<Losses>,
    revision: Revision,
}

impl Join {
    /// Joins clients to a server of this revision.
    pub(super) fn new(upstream: Upstream, losses: Arc<Losses>, revision: Revision) -> Self {
        Self {
            upstream,
            losses,
            revision,
        }
    }

    /// What the answer would lose on its way to the client, where that may be a reason to refuse it.
    fn refused(&self, method: &str, peer: Revision, result: &Json) -> Option<ErrorObject> {
        if !self.losses.refuses_any() {
            return None;
        }
        let subject = Subject::Method(method, Part::Result, Some(Direction::ClientToServer));
        let cx = Context::default();
        let outcome = mcp_registry::convert(subject, self.revision, peer, result.text(), cx);
        self.losses.refuse(outcome.ok()?.losses())
    }
}

impl Handler for Join {
    async fn call(&self, call: Call, peer: Peer) -> Result<Json, ErrorObject> {
        if let Some(error) = self.losses.refuse(&call.losses) {
            return Err(error);
        }
        let Call {
            method,
            params,
            peer: revision,
            log_level,
            progress_token,
            ..
        } = call;
        let params = (params.text() != "{}").then_some(params);
        let mut ask = Ask::new(method, params);
        if progress_token.is_some() {
            ask = ask.with_progress();
        }
        if let Some(level) = log_level {
            ask = ask.with_log_level(level.name());
        }
        let answered = self.upstream.ask(method, ask, peer).await;
        if let Some(answered) = &answered {
            let losses = &answered.losses;
            self.losses.tell("server", method, self.revision, losses);
            if let Some(error) = self.losses.refuse(losses) {
                return Err(error);
            }
        }
        let result = upstream::result(answered)?;
        match self.refused(method, revision, &result) {
            Some(error) => Err(error),
            None => Ok(result),
        }
    }

    fn notice(&self, notice: Notice, _: Session) {
        let params = (notice.params.text() != "{}").then_some(notice.params);
        self.upstream.notify(notice.method, params);
    }

    fn opened(&self, session: Session) {
        self.upstream.opened(session);
    }
}
