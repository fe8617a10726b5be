//! What the two directions of a server are to the translator: who sends, which session stands behind, whose fault it is.

use std::sync::{Arc, LazyLock};

use mcp_protocol::{Revision, Session};
use mcp_wire::{Direction, ErrorObject, Json, Raw};

use super::Server;
use super::state::Opened;
use crate::meta;
use crate::protocol::json::edit_meta;
use crate::protocol::revisions::{is_legacy, same};
pub(in crate::protocol) use crate::protocol::translate::{
    NO_PARAMS, Stopped, Translated, no_params,
};
use crate::protocol::translate::{Translator, Way, without_claims};

impl Server {
    pub(crate) fn translator(&self) -> Translator {
        Translator {
            app: self.app,
            policy: self.policy,
        }
    }

    /// Returns what the application's revision calls a method that a client names.
    pub(in crate::protocol) fn app_name<'m>(&self, method: &'m str, peer: Revision) -> &'m str {
        (self.translator()).app_name(method, Direction::ClientToServer, peer)
    }

    /// Returns what a client's revision calls a method that the server sends.
    pub(in crate::protocol) fn peer_name<'m>(&self, method: &'m str, peer: Revision) -> &'m str {
        (self.translator()).peer_name(method, Direction::ServerToClient, peer)
    }

    /// Params of a peer, for the application. Where it has to be read on the way, it must be valid.
    pub(in crate::protocol) fn params_in(
        &self,
        method: &str,
        params: Option<Raw<'_>>,
        peer: Revision,
        session: Option<&Opened>,
    ) -> Translated<Json> {
        if same(peer, self.app) {
            return Ok((params.map_or_else(no_params, Raw::to_json), Vec::new()));
        }
        let text = params.map_or(NO_PARAMS, Raw::text);
        let translate = |text: &str, session| {
            let sender = Direction::ClientToServer;
            (self.translator()).params(Way::In, sender, method, text, peer, session)
        };
        match (is_legacy(peer), self.modern) {
            (true, true) => translate(text, Some(upgraded(session)))
                .map(|(json, losses)| (stamped(json, session), losses)),
            // The level is told to the handlers beside the params.
            (false, false) if text.contains(meta::LOG_LEVEL) => {
                translate(&meta::without(text, meta::LOG_LEVEL), None)
                    .map(|(json, losses)| (json, without_claims(losses)))
            }
            (_, modern) => translate(text, None).map(|(json, losses)| match modern {
                true => (json, losses),
                false => (json, without_claims(losses)),
            }),
        }
    }

    /// The answer of the application, for a peer.
    pub(in crate::protocol) fn result_out(
        &self,
        method: &'static str,
        result: &Json,
        peer: Revision,
    ) -> Translated<Json> {
        if same(peer, self.app) {
            return Ok((result.clone(), Vec::new()));
        }
        let sender = Direction::ClientToServer;
        (self.translator()).result(Way::Out, sender, method, result.text(), peer, None)
    }

    /// The error of the application, for a peer.
    pub(in crate::protocol) fn error_out(
        &self,
        method: &'static str,
        error: ErrorObject,
        peer: Revision,
    ) -> Translated<ErrorObject> {
        let sender = Direction::ClientToServer;
        self.translator()
            .error(Way::Out, sender, method, error, peer)
    }

    /// Params of the application, for a peer.
    pub(in crate::protocol) fn params_out(
        &self,
        method: &str,
        params: Option<&Json>,
        peer: Revision,
    ) -> Translated<Json> {
        if same(peer, self.app) {
            return Ok((params.cloned().unwrap_or_else(no_params), Vec::new()));
        }
        let (sender, text) = (
            Direction::ServerToClient,
            params.map_or(NO_PARAMS, Json::text),
        );
        (self.translator()).params(Way::Out, sender, method, text, peer, None)
    }

    /// The answer of a peer to a request of the server, for the application.
    pub(in crate::protocol) fn answer_in(
        &self,
        method: &'static str,
        result: &str,
        peer: Revision,
    ) -> Translated<Json> {
        let sender = Direction::ServerToClient;
        (self.translator()).result(Way::In, sender, method, result, peer, None)
    }
}

/// Returns what a session says in place of a per-request client.
fn upgraded(session: Option<&Opened>) -> &Arc<Session> {
    static UNKNOWN: LazyLock<Arc<Session>> = LazyLock::new(|| {
        Arc::new(Session {
            client_capabilities: Some(no_params()),
            ..Session::default()
        })
    });
    session.map_or(&*UNKNOWN, |session| &session.upgraded)
}

/// Returns params of a handshake peer, with the level of its session, which a per-request message has in itself.
fn stamped(params: Json, session: Option<&Opened>) -> Json {
    let Some(level) = session.and_then(|session| session.log_level) else {
        return params;
    };
    edit_meta(params, |meta| {
        if !meta.contains_key(meta::LOG_LEVEL) {
            meta.insert(meta::LOG_LEVEL, Json::of(level.name()));
        }
    })
}
