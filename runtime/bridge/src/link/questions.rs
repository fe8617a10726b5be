//! Requests of a server in mid-call: the client that gets them, and the place.
//!
//! A server of the per-request lifecycle asks in the result of a call, so that the call is known. An older one asks by a request of
//! its own, which over HTTP comes in the stream of the call, and over standard streams says nothing. A client of the
//! handshake lifecycle is asked as the server asks. One of the per-request lifecycle can be asked in the result
//! of a call alone; [`turns`](super::turns) finds out of which.

use std::collections::BTreeSet;
use std::time::Duration;

use mcp_revisions::client_transport::OpenCall;
use mcp_revisions::sansio::client::{IncomingRequest, Token};
use mcp_revisions::sansio::errors;
use mcp_revisions::serve::{Peer, Session};
use mcp_revisions_core::Lifecycle;
use mcp_wire::{ErrorObject, Json};
use tracing::warn;

use super::asked::{BridgedRequest, ServerQuestion, UpstreamDriver};
use super::if_any;
use super::listeners::Listeners;
use super::proxied::Proxied;
use super::turns::Decided;
use crate::identity::{self, is_per_request};

/// Maximum time for a client to open its session, once its server has asked.
const CLIENT_COMES: Duration = Duration::from_secs(60);

/// The place at which a client is asked.
enum QuestionSlot {
    InCall(Peer),
    AtLarge(Session),
    /// At large, once the session of the client is open.
    AtFirst(Listeners),
    /// It is not known whose call it is; no client is asked in another one's place.
    Nowhere,
}

impl QuestionSlot {
    async fn ask(self, method: &str, params: &Json) -> Result<Json, ErrorObject> {
        let params = if_any(params);
        match self {
            Self::InCall(peer) => peer.ask(method, params).await,
            Self::AtLarge(session) => session.ask(method, params).await,
            Self::AtFirst(listeners) => {
                match tokio::time::timeout(CLIENT_COMES, listeners.first()).await {
                    Ok(session) => session.ask(method, params).await,
                    Err(_) => Err(errors::internal("the client has not opened its session").error),
                }
            }
            Self::Nowhere => Err(errors::internal(
                "it is not known in which call the client is to be asked",
            )
            .error),
        }
    }
}

/// The call that a question belongs to.
enum Belongs {
    /// To this call.
    Of(Token),
    /// To the client, in no call.
    ToClient(Session),
    /// To one of these calls.
    Among(BTreeSet<Token>),
    /// To the client whose session opens soon, in no call.
    ToFirst,
    /// To the next call of a client that can be asked only in calls.
    ToNextCall,
    /// To no client that is there.
    ToNobody,
}

impl Proxied {
    /// A question of the server goes to the client whose call it works on, now or once that is clear; one that no revision
    /// has is handed on as it is.
    pub(super) fn question<M: Into<String>>(
        &mut self,
        server: &mut UpstreamDriver,
        call: IncomingRequest<M>,
        is_known: bool,
    ) {
        let about = call.about;
        let question = ServerQuestion {
            token: call.token,
            method: call.method.into(),
            params: call.params,
            is_known,
        };
        match self.belongs(server, about, question.is_known) {
            Belongs::Of(call) => self.ask_in(server, call, question),
            Belongs::ToClient(session) => {
                self.ask_client(server, question, QuestionSlot::AtLarge(session), None);
            }
            Belongs::Among(calls) => {
                if let Err(question) = self.turns.keep(question, calls, server) {
                    self.refuse(server, question);
                }
            }
            Belongs::ToFirst => {
                let slot = QuestionSlot::AtFirst(self.listeners.clone());
                self.ask_client(server, question, slot, None);
            }
            Belongs::ToNextCall => {
                if let Err(question) = self.turns.keep_for_next_call(question, server.now()) {
                    self.refuse(server, question);
                }
            }
            Belongs::ToNobody => self.refuse(server, question),
        }
    }

    /// Asks what has become clear, and lets calls begin that waited for that; whether there was any of it.
    pub(super) fn take_turns(&mut self, server: &mut UpstreamDriver) -> bool {
        let decided = self.turns.decide(server);
        let mut has_acted = decided.is_some();
        match decided {
            Some(Decided::Of(call, question)) => self.ask_in(server, call, question),
            Some(Decided::Refused(question)) => self.refuse(server, question),
            None => {}
        }
        while let Some((ask, open, _)) = self.turns.next_held(server) {
            has_acted = true;
            server.begin(ask, open);
        }
        has_acted
    }

    fn refuse(&self, server: &mut UpstreamDriver, question: ServerQuestion) {
        warn!(
            server = self.settings.label(),
            method = question.method,
            "a question is refused: no client can be asked, or it is not known in which call"
        );
        self.ask_client(server, question, QuestionSlot::Nowhere, None);
    }

    fn ask_in(&self, server: &mut UpstreamDriver, call: Token, question: ServerQuestion) {
        let Some(open) = server.call_mut(call) else {
            return self.refuse(server, question);
        };
        let asked = &mut open.call;
        asked.was_asked = true;
        let place = QuestionSlot::InCall(asked.peer.clone());
        self.ask_client(server, question, place, Some(call));
    }

    fn ask_client(
        &self,
        server: &mut UpstreamDriver,
        question: ServerQuestion,
        place: QuestionSlot,
        of: Option<Token>,
    ) {
        let ServerQuestion {
            token,
            method,
            params,
            ..
        } = question;
        server.answer_with(token, of, async move { place.ask(&method, &params).await });
    }

    /// Returns the place of a server's request: in this call if it says so.
    fn belongs(&self, server: &UpstreamDriver, about: Option<Token>, is_known: bool) -> Belongs {
        let calls = server.calls();
        if let Some(of) = about.filter(|token| calls.contains_key(token)) {
            return Belongs::Of(of);
        }
        let may_ask = |asked: &BridgedRequest| !is_known || identity::may_ask(&asked.method);
        let candidates: Vec<(&Token, &OpenCall<BridgedRequest>)> = (calls.iter())
            .filter(|(_, open)| may_ask(&open.call))
            .collect();
        match candidates.as_slice() {
            [(only, _)] => Belongs::Of(**only),
            // It hears what is asked in any of them; and over standard streams what is asked in none, which cannot end first.
            [.., (latest, open)] if !is_per_request(&open.call.caller) => {
                let BridgedRequest { peer, .. } = &open.call;
                match peer.headers() {
                    Some(_) => Belongs::Of(**latest),
                    None => Belongs::ToClient(peer.session()),
                }
            }
            // One that waits for an answer asks nothing else meanwhile.
            [_, ..] => {
                let idle: BTreeSet<Token> = candidates
                    .iter()
                    .filter(|(_, it)| it.questions == 0)
                    .map(|(token, _)| **token)
                    .collect();
                match idle.len() {
                    0 => Belongs::ToNobody,
                    1 => idle
                        .first()
                        .map_or(Belongs::ToNobody, |it| Belongs::Of(*it)),
                    _ => Belongs::Among(idle),
                }
            }
            [] => match self.listeners.all().pop() {
                Some(session) => Belongs::ToClient(session),
                None if self.listeners.is_early() => Belongs::ToFirst,
                None if self.client.lifecycle() == Lifecycle::PerRequest => Belongs::ToNextCall,
                // A client of the handshake lifecycle has a session as long as it is there.
                None => Belongs::ToNobody,
            },
        }
    }
}
