//! Params of a client for the handlers: what its session says in the place of each request.

use std::sync::{Arc, LazyLock};

use mcp_revisions_core::{Context, Conversion, Revision, Session, translate::is_handshake};
use mcp_wire::{Json, Raw, meta};

use super::Server;
use super::requests::OpenSession;
use crate::translate::{NO_PARAMS, TextDirection, no_params};

impl Server {
    /// Params of a peer, for the application. Where it has to be read on the way, it must be valid.
    pub(crate) fn params_in(
        &self,
        method: &str,
        params: Option<Raw<'_>>,
        peer: Revision,
        session: Option<&OpenSession>,
    ) -> Conversion<Json> {
        if peer.same_types(self.app()) {
            return Ok((params.map_or_else(no_params, Raw::to_json), Vec::new()));
        }
        let text = params.map_or(NO_PARAMS, Raw::text);
        let translator = &self.translator;
        let translate = |text: &str, context: &dyn Fn() -> Context| {
            translator.convert_params(TextDirection::In, method, text, peer, context)
        };
        match (is_handshake(peer), self.is_per_request) {
            (true, true) => translate(text, &|| translator.context(Some(upgraded(session))))
                .map(|(json, losses)| (stamped(json, session), losses)),
            (_, true) => translate(text, &|| translator.context(None)),
            // The level is told to the handlers beside the params, and so is who the client is.
            (is_handshake, false) => {
                let context = || translator.context(None).with_known_session();
                if is_handshake || !text.contains(meta::LOG_LEVEL) {
                    return translate(text, &context);
                }
                let object = params.map_or_else(no_params, Raw::to_json);
                translate(meta::without(&object, meta::LOG_LEVEL).text(), &context)
            }
        }
    }
}

/// Returns the facts of a session in place of a per-request client.
fn upgraded(session: Option<&OpenSession>) -> &Arc<Session> {
    static UNKNOWN: LazyLock<Arc<Session>> = LazyLock::new(|| {
        Arc::new(Session {
            client_capabilities: Some(no_params()),
            ..Session::default()
        })
    });
    session.map_or(&*UNKNOWN, |session| &session.upgraded)
}

/// Returns params of a handshake peer, with the level of its session, which a per-request message has in itself.
fn stamped(params: Json, session: Option<&OpenSession>) -> Json {
    let Some(level) = session.and_then(|session| session.log_level) else {
        return params;
    };
    meta::edit(&params, |meta| {
        if !meta.contains_key(meta::LOG_LEVEL) {
            meta.insert(meta::LOG_LEVEL, Json::of(&level));
        }
    })
}
