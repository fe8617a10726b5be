//! Headers that repeat parameters of tools: whether a call agrees with what the handlers' own `tools/list` says of them.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;
use http::request::Parts;
use mcp_revisions_core::{Lifecycle, Revision};
use mcp_wire::envelope::write;
use mcp_wire::{Json, JsonObject, Map, Peeked, Raw, RequestId};

use super::ParamCheck;
use super::agreement::agree;
use super::body::HangUp;
use super::inner::ServiceShared;
use super::tools::{Identity, ListedTool};
use crate::serve::{ExchangeFacts, QueueItem, TextOutcome, outbox};
use mcp_revisions_core::methods;
use mcp_revisions_core::{Headers, headers};
use mcp_revisions_sansio::driver::params::{self, Learned};
use mcp_revisions_sansio::driver::server::name_for;
use mcp_revisions_sansio::errors::{self, Refusal};
use mcp_revisions_sansio::server::Owner;

/// Maximum number of pages of tools that are asked for.
const PAGES: usize = 100;
/// Maximum time for the handlers to list them.
const WAIT: Duration = Duration::from_secs(10);
/// Maximum number of bytes of names remembered for one caller.
const BYTES: usize = 64 << 10;

/// Refuses headers that give a parameter two values: a proxy on the way may have read either.
fn params_say_one_thing(headers: &HeaderMap) -> Result<(), Box<Refusal>> {
    for name in headers.keys() {
        let text = name.as_str();
        let is_param = (text.get(..params::PREFIX.len()))
            .is_some_and(|start| start.eq_ignore_ascii_case(params::PREFIX));
        let mut values = headers.get_all(name).iter();
        let first = values.next();
        if is_param && values.any(|value| Some(value) != first) {
            let name = mcp_revisions_core::errors::shortened(text);
            let why = format!("{name} came twice with different values");
            return Err(errors::header_mismatch(&why));
        }
    }
    Ok(())
}

impl ServiceShared {
    /// Returns the name of an application's method in a client's revision.
    fn name_for_peer(&self, method: &'static str, peer: Revision) -> &'static str {
        name_for(&self.server, peer, method)
    }

    /// Refuses a per-request call of a tool whose headers differ from its arguments.
    pub(super) async fn params_agree(
        &self,
        message: &Peeked<'_>,
        parts: &Arc<Parts>,
        who: &Owner,
    ) -> Result<(), Box<Refusal>> {
        let claim = message.meta.protocol_version.and_then(Raw::as_str);
        let revision = claim.and_then(|claim| Revision::from_protocol_version(&claim));
        let Some(revision) =
            revision.filter(|revision| revision.lifecycle() == Lifecycle::PerRequest)
        else {
            return Ok(());
        };
        params_say_one_thing(&parts.headers)?;
        if matches!(self.options.params, ParamCheck::Off) {
            return Ok(());
        }
        let method = message.method.as_deref();
        let name = match (method, message.name.and_then(Raw::as_str)) {
            (Some(method), Some(name))
                if method == self.name_for_peer(methods::TOOLS_CALL, revision) =>
            {
                name
            }
            _ => return Ok(()),
        };
        let tools = self.learned(revision, message, (&name, parts), who).await;
        let params = tools.of(&name);
        if params.is_empty() {
            return Ok(());
        }
        let arguments = message
            .params
            .and_then(|params| Json::from_text(params.text()).ok())
            .and_then(|params| params.get("arguments"));
        for param in params {
            let header = parts
                .headers
                .get(format!("{}{}", params::PREFIX, param.name))
                .map(|value| value.to_str().unwrap_or(headers::UNREADABLE));
            agree(param, arguments.as_ref(), header)?;
        }
        Ok(())
    }

    /// Returns the header parameters of a tool and others, and lists the tools again when they are old.
    async fn learned(
        &self,
        revision: Revision,
        message: &Peeked<'_>,
        (name, parts): (&str, &Arc<Parts>),
        who: &Owner,
    ) -> Arc<Learned> {
        if let ParamCheck::Known(tools) = &self.options.params {
            return Arc::clone(tools);
        }
        let group = self.options.tool_groups.as_ref().and_then(|it| it(name));
        let identity = Identity::of(parts, group);
        let known = match self.tools.of(&identity) {
            Ok(tools) => return tools,
            Err(known) => known,
        };
        let mut parts = Parts::clone(parts);
        parts.extensions.insert(ListedTool(name.to_owned()));
        let list = self.list(revision, message, Arc::new(parts), who);
        let listed = tokio::time::timeout(WAIT, list).await.ok().flatten();
        self.tools.remember(identity, listed, known)
    }

    /// Asks the handlers for their tools, page by page, as the client that calls would; nothing if they did not say.
    async fn list(
        &self,
        revision: Revision,
        message: &Peeked<'_>,
        parts: Arc<Parts>,
        who: &Owner,
    ) -> Option<Learned> {
        let mut tools = Learned::within(BYTES);
        let said: Map<Json> = mcp_wire::from_str(message.params?.text()).ok()?;
        let mut params = Map::from_iter([("_meta", said.get("_meta")?.clone())]);
        for _ in 0..PAGES {
            let method = self.name_for_peer(methods::TOOLS_LIST, revision);
            let listed = self.own_request(revision, method, &params, &parts, who);
            let page = listed.await?;
            // One that breaks the rule has no such parameters.
            tools.learn(&page);
            let cursor = page.get("nextCursor").filter(|cursor| !cursor.is_null());
            let Some(cursor) = cursor else { break };
            params.insert("cursor", cursor);
        }
        Some(tools)
    }

    /// Sends the server a request of its own, as a client of this revision would; returns the result, if there is one.
    pub(super) async fn own_request(
        &self,
        revision: Revision,
        method: &str,
        params: &Map<Json>,
        parts: &Arc<Parts>,
        who: &Owner,
    ) -> Option<Json> {
        let text = write::request(&RequestId::from(0), method, Some(Json::of(params).text()));
        let headers = Headers::from_pairs([
            (headers::PROTOCOL_VERSION, revision.protocol_version()),
            (headers::METHOD, method),
        ]);
        let (texts, mut queue) = outbox(None);
        let facts = ExchangeFacts {
            parts: Some(Arc::clone(parts)),
            room: None,
        };
        let driver = self.new_driver();
        driver.opened_by(who.clone(), parts.extensions.get());
        let taken = driver.take(
            Some(&headers),
            self.server.look(Some(&headers), text.as_bytes()),
            &texts,
            facts,
        );
        drop(texts);
        let TextOutcome { exchange, .. } = driver.settled(taken).await;
        // If the caller hangs up, or the page takes too long, no receiver is left for it.
        let hangs_up = driver.is_given_up_by_hanging_up(exchange);
        let guard = hangs_up.then(|| HangUp::new(move || driver.hung_up(exchange)));
        let answer = loop {
            match queue.recv().await? {
                QueueItem::Item(item) if item.text.last => break item.text,
                QueueItem::Item(_) | QueueItem::Pause(_) => {}
            }
        };
        if let Some(guard) = guard {
            guard.disarm();
        }
        let answer: JsonObject = mcp_wire::from_str(&answer.body).ok()?;
        answer.get("result")
    }
}
