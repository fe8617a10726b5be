//! What a server asks in mid-call: whom, and where.
//!
//! A server of the modern era asks in the result of a call, so that the call is known. An older one asks by a request of
//! its own, which over HTTP comes in the stream of the call, and over standard streams says nothing. A client of the
//! handshake era is asked as the server asks, wherever it can hear it. One of the modern era can be asked in the result
//! of a call alone; [`Upstream::ask`](super::Upstream::ask) sees to it that there is only one that can be meant.

use mcp_registry::{Part, Spoken, Subject};
use mcp_revisions::client::{Call, OtherCall, Token};
use mcp_revisions::errors;
use mcp_revisions::serve::{Peer, Session};
use mcp_wire::{Direction, ErrorObject, Json};
use tracing::warn;

use super::task::{Task, Waiting};
use super::{Asked, Command};
use crate::bridge::identity;
use crate::bridge::losses::End;

/// Where a client is asked.
enum Place {
    InCall(Peer),
    AtLarge(Session),
    /// Whose call it is cannot be told; nobody is asked in another one's place.
    Nowhere,
}

impl Place {
    async fn ask(self, method: &str, params: &Json) -> Result<Json, ErrorObject> {
        match self {
            Self::InCall(peer) => peer.ask(method, Some(params)).await,
            Self::AtLarge(session) => session.ask(method, Some(params)).await,
            Self::Nowhere => Err(errors::internal(
                "it cannot be told in which call the client is to be asked",
            )
            .error),
        }
    }
}

impl<App: Spoken> Task<App> {
    /// A question of the server goes to the client whose call it works on.
    pub(super) fn question(&mut self, call: Call) {
        let Call {
            token,
            method,
            params,
            about,
            losses,
            ..
        } = call;
        self.losses.tell(
            End::Server,
            method,
            App::REVISION,
            call.id.as_ref(),
            &losses,
        );
        let (place, peer) = self.place(about, identity::may_ask);
        let refused = peer.and_then(|peer| {
            let sender = Some(Direction::ServerToClient);
            let subject = Subject::Method(method, Part::Params, sender);
            let ends = (App::REVISION, peer);
            self.losses.refuse_to_carry(subject, ends, &params)
        });
        self.ask_client(token, place, method.to_owned(), params, refused);
    }

    /// A question that no revision has is handed on as it is.
    pub(super) fn other_question(&mut self, call: OtherCall) {
        let (place, _) = self.place(call.about, |_| true);
        self.ask_client(call.token, place, call.method, call.params, None);
    }

    fn ask_client(
        &mut self,
        token: Token,
        place: Place,
        method: String,
        params: Json,
        refused: Option<ErrorObject>,
    ) {
        let Some(commands) = self.commands.upgrade() else {
            return;
        };
        let asked = tokio::spawn(async move {
            let result = match refused {
                Some(error) => Err(error),
                None => place.ask(&method, &params).await,
            };
            let _ = commands.send(Command::Answer(token, result)).await;
        });
        self.questions.insert(token, asked.abort_handle());
    }

    /// Where the client is asked, and in which revision.
    fn place(
        &mut self,
        about: Option<Token>,
        may_ask: fn(&str) -> bool,
    ) -> (Place, Option<mcp_registry::Revision>) {
        self.sessions.retain(|session| !session.is_over());
        let in_call = |waiting: &Waiting| {
            let asked = &waiting.asked;
            let place = Place::InCall(asked.peer.clone());
            (place, Some(asked.caller.revision))
        };
        if let Some(of) = about.and_then(|token| self.calls.get(&token)) {
            return in_call(of);
        }
        let mut candidates = (self.calls.values()).filter(|waiting| may_ask(&waiting.asked.method));
        match (candidates.next(), candidates.next_back()) {
            (Some(only), None) => in_call(only),
            // It hears what is asked in any of them; and over standard streams what is asked in none, which cannot end first.
            (Some(_), Some(newest)) if !self.is_modern => {
                let Asked { peer, caller, .. } = &*newest.asked;
                match peer.headers() {
                    Some(_) => in_call(newest),
                    None => (Place::AtLarge(peer.session()), Some(caller.revision)),
                }
            }
            (Some(_), Some(_)) => {
                warn!("a question is refused: it cannot be told in which call it is asked");
                (Place::Nowhere, None)
            }
            (None, _) => match self.sessions.last() {
                Some(session) => {
                    let caller = session.caller();
                    let revision = caller.map(|caller| caller.revision);
                    (Place::AtLarge(session.clone()), revision)
                }
                // A client of the handshake era has a session as long as it is there.
                None => (Place::Nowhere, None),
            },
        }
    }
}
