//! What a peer says that is not answered: notifications, and its answers to requests of the server.

use std::time::Duration;

use mcp_registry::{Adapter, Loss, Revision};
use mcp_wire::{Direction, ErrorObject, Json, MethodKind, RequestId};

use super::Server;
use super::done::Handled;
use super::state::{Asked, AskedBy, State};
use super::translate::{Stopped, no_params};
use crate::adapters::Occasion;
use crate::protocol::ask::{outcome, own_id};
use crate::protocol::revisions::{is_legacy, known};
use crate::protocol::rows::find_method;
use crate::protocol::{Answered, Event, Ignored, NeedsAdapter, Notice, OtherNotice, Token};
use crate::{errors, methods};
use mcp_wire::{Peeked, Raw};

impl Server {
    pub(super) fn notification(
        &self,
        state: &mut State,
        message: &Peeked<'_>,
        peer: Revision,
        now: Duration,
    ) -> Handled {
        let name = message.method.as_deref().unwrap_or_default();
        match self.app_name(name, peer) {
            methods::NOTIFICATIONS_CANCELLED => return self.cancelled(state, message, now),
            methods::NOTIFICATIONS_INITIALIZED if is_legacy(peer) => {
                return match &mut state.session {
                    Some(session) => {
                        let first = !std::mem::replace(&mut session.is_initialized, true);
                        let mut handled = Handled::told(Event::Initialized);
                        let adapter = Adapter::Subscription;
                        if first
                            && self.modern
                            && let Some(output) = self.run_machine(
                                state,
                                adapter,
                                Occasion::Initialized { peer },
                                now,
                            )
                        {
                            handled.outputs.extend(output.outputs);
                        }
                        handled
                    }
                    // Without sessions over HTTP there is nobody to remember it.
                    None => Handled {
                        status: 202,
                        ..Handled::default()
                    },
                };
            }
            _ => {}
        }
        let Some(row) = find_method(
            peer,
            name,
            Direction::ClientToServer,
            MethodKind::Notification,
        ) else {
            if self.takes_others && known(name).is_none() {
                return Handled::told(Event::OtherNotice(OtherNotice {
                    method: name.to_owned(),
                    params: message.params.map(Raw::to_json).unwrap_or_else(no_params),
                    peer,
                    about: None,
                }));
            }
            let why = format!("revision {peer} has no notification of that method");
            return Handled::put_aside(Ignored::Invalid(name.to_owned(), why), 202);
        };
        let session = state.session.as_deref().filter(|_| is_legacy(peer));
        let method = self.app_name(row.name, peer);
        let carried = self.params_in(method, message.params, peer, session);
        self.on_loss.tell(method, peer, None, &carried);
        match carried {
            Ok((params, losses)) => Handled::told(Event::Notice(Notice {
                method,
                params,
                peer,
                about: None,
                losses,
            })),
            Err(Stopped::Swallowed(rule)) => {
                Handled::put_aside(Ignored::Swallowed(name.to_owned(), rule), 202)
            }
            Err(Stopped::NeedsState(needs)) => {
                Handled::told(Event::NeedsAdapter(NeedsAdapter::new(&needs, method, peer)))
            }
            Err(stopped) => {
                let error = stopped.into_error(ErrorObject::INVALID_PARAMS);
                Handled::put_aside(Ignored::Invalid(name.to_owned(), error.message), 202)
            }
        }
    }

    fn cancelled(&self, state: &mut State, message: &Peeked<'_>, now: Duration) -> Handled {
        let params = message
            .params
            .map(Raw::to_json)
            .and_then(|json| mcp_wire::JsonObject::try_from(json).ok());
        let id: Option<RequestId> = params
            .as_ref()
            .and_then(|params| params.get("requestId")?.read().ok());
        let Some(token) = id.and_then(|id| state.token_of(&id)) else {
            // It may have crossed the answer on its way.
            return Handled::put_aside(
                Ignored::Invalid(
                    methods::NOTIFICATIONS_CANCELLED.to_owned(),
                    "no such request waits".to_owned(),
                ),
                202,
            );
        };
        let reason = params.and_then(|params| params.get("reason")?.as_str().map(String::from));
        let output = self.give_up(state, token, reason, now);
        Handled {
            status: 202,
            ..Handled::adapted(output, false)
        }
    }

    pub(super) fn peer_answer(
        &self,
        state: &mut State,
        message: &Peeked<'_>,
        id: Option<RequestId>,
        now: Duration,
    ) -> Handled {
        let number = id.as_ref().and_then(own_id);
        let Some(asked) = number.and_then(|number| state.asked.remove(&number)) else {
            return Handled::put_aside(Ignored::AnswerToNothing(id), 202);
        };
        self.answered(state, asked, id.as_ref(), outcome(message), now)
    }

    /// A request of the server whose answer is no message: it ends with an error that says why.
    pub(super) fn unanswered(
        &self,
        state: &mut State,
        instead: Option<(i64, String)>,
        now: Duration,
    ) -> Option<Handled> {
        let (number, why) = instead?;
        let asked = state.asked.remove(&number)?;
        let error = errors::internal(&format!("the client's answer is not valid: {why}")).error;
        let id = RequestId::from(number);
        Some(self.answered(state, asked, Some(&id), Err(error), now))
    }

    fn answered(
        &self,
        state: &mut State,
        asked: Asked,
        id: Option<&RequestId>,
        result: Result<Json, ErrorObject>,
        now: Duration,
    ) -> Handled {
        match asked.by {
            AskedBy::Machine(adapter, key) => {
                let occasion = Occasion::Answered {
                    key,
                    result: result.as_ref(),
                };
                let output = self.run_machine(state, adapter, occasion, now);
                let mut handled = output
                    .map(|output| Handled::adapted(output, false))
                    .unwrap_or_default();
                handled.status = 202;
                handled
            }
            AskedBy::Application(key) => {
                let (result, losses) = match asked.method {
                    Some(method) => self.answer_for_application(method, id, result, asked.peer),
                    None => (result, Vec::new()),
                };
                Handled::told(Event::Answered(Answered {
                    token: Token(key),
                    answer: result.into(),
                    losses,
                }))
            }
        }
    }

    fn answer_for_application(
        &self,
        method: &'static str,
        id: Option<&RequestId>,
        result: Result<Json, ErrorObject>,
        peer: Revision,
    ) -> (Result<Json, ErrorObject>, Vec<Loss>) {
        let result = match result {
            Ok(result) => result,
            Err(error) => return (Err(error), Vec::new()),
        };
        let carried = self.answer_in(method, result.text(), peer);
        self.on_loss.tell(method, peer, id, &carried);
        match carried {
            Ok((result, losses)) => (Ok(result), losses),
            Err(stopped) => (
                Err(stopped.into_error(ErrorObject::INTERNAL_ERROR)),
                Vec::new(),
            ),
        }
    }
}
