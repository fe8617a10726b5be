//! Parameters of tools that headers repeat, learned from the lists of the server.

use std::time::Duration;

use mcp_revisions_core::{ProtocolHeader, Revision, methods};
use mcp_wire::{ErrorObject, Json, Map};

use super::{AppRequest, Channel, Client, RequestPurpose};
use crate::errors::HEADER_MISMATCH;
use crate::json::object;
use crate::params::{self, Learned, Param, WORD, text_of};
use crate::{Connection, Ignored, Token};

/// Facts learned of tools.
#[derive(Debug)]
pub(crate) struct KnownTools {
    learned: Learned,
    /// Calls that wait until the tools are listed again.
    refused: Vec<RefusedCall>,
    /// Number of pages of that list so far.
    pages: usize,
}

/// A call that was refused for its headers.
#[derive(Debug)]
pub(crate) struct RefusedCall {
    pub(crate) request: AppRequest,
    pub(crate) error: ErrorObject,
    pub(crate) revision: Revision,
}

impl Default for KnownTools {
    fn default() -> Self {
        Self {
            learned: Learned::within(MOST_BYTES),
            refused: Vec::new(),
            pages: 0,
        }
    }
}

/// Maximum number of bytes remembered of their parameters.
const MOST_BYTES: usize = 4 << 20;
/// Maximum number of pages of tools that are asked for.
const PAGES: usize = 100;

impl KnownTools {
    /// Returns the number of waiting calls.
    pub(crate) fn len(&self) -> usize {
        self.refused.len()
    }

    /// Takes out the call of a token.
    pub(crate) fn take(&mut self, token: Token) -> Option<AppRequest> {
        let mut refused = self.refused.iter();
        let index = refused.position(|refused| refused.request.token == token)?;
        Some(self.refused.remove(index).request)
    }

    /// Takes out all calls: the server is left.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = AppRequest> + use<> {
        let refused = std::mem::take(&mut self.refused).into_iter();
        refused.map(|refused| refused.request)
    }
}

impl Connection<Client> {
    fn repeats_params(&self, revision: Revision) -> bool {
        self.role.options.channel == Channel::Http
            && revision.has_header(ProtocolHeader::McpParamName)
    }

    /// Learns from a list of tools; the list without those that break the rule, if there are any.
    pub(crate) fn learn(&mut self, result: &Json, revision: Revision) -> Option<Json> {
        if !self.repeats_params(revision) || !self.state.tools.learned.is_told_by(result) {
            return None;
        }
        let (kept, broken) = self.state.tools.learned.learn(result);
        if broken.is_empty() {
            return None;
        }
        for why in broken {
            self.ignore(Ignored::Invalid(methods::TOOLS_LIST.to_owned(), why));
        }
        let mut members: Map<Json> = result.read().ok()?;
        members.insert("tools", Json::of(&kept));
        Some(Json::of(&members))
    }

    /// Returns the headers that repeat the arguments of a call, but for those that the application gave.
    pub(crate) fn repeated(
        &self,
        method: &str,
        given: &[(String, String)],
        params: Option<&Json>,
        revision: Revision,
    ) -> Vec<(String, String)> {
        let mut headers = given.to_vec();
        if method != methods::TOOLS_CALL || !self.repeats_params(revision) {
            return headers;
        }
        let name = params.and_then(|params| params.read_member::<String>("name"));
        let learned = name.map(|name| self.state.tools.learned.of(&name));
        let arguments = params.and_then(|params| params.get("arguments"));
        for param in learned.into_iter().flatten() {
            let header = format!("{}{}", params::PREFIX, param.name);
            let is_given = |(name, _): &(String, String)| name.eq_ignore_ascii_case(&header);
            if !given.iter().any(is_given)
                && let Some(value) = param.value(arguments.as_ref())
            {
                headers.push((header, value));
            }
        }
        headers
    }

    /// Returns whether the tools are listed again, and then the call is sent again, once: its headers may be those of
    /// a list that is old, or was never seen.
    pub(crate) fn relists(
        &self,
        request: &AppRequest,
        error: &ErrorObject,
        revision: Revision,
    ) -> bool {
        error.code.as_i64() == Some(HEADER_MISMATCH)
            && request.ask.method == methods::TOOLS_CALL
            && !request.has_relisted
            && self.role.options.adapts
            && self.repeats_params(revision)
    }

    /// Asks for the tools, for a call that was refused; one list serves all that wait for it.
    pub(crate) fn relist(&mut self, refused: RefusedCall) {
        let (revision, is_first) = (refused.revision, self.state.tools.refused.is_empty());
        self.state.tools.refused.push(refused);
        if is_first {
            self.state.tools.pages = 0;
            self.post_list(None, revision);
        }
    }

    fn post_list(&mut self, cursor: Option<Json>, revision: Revision) {
        let mut refused = self.state.tools.refused.iter();
        let behalf = refused.find_map(|refused| refused.request.ask.behalf.clone());
        let params = cursor.map(|cursor| object([("cursor", cursor)]));
        let params = self.stamped(params, revision, behalf.as_deref());
        self.post_request(
            methods::TOOLS_LIST,
            params,
            revision,
            RequestPurpose::Relist,
        );
    }

    /// A page of the tools came: behind the last one the calls are sent again.
    pub(crate) fn relisted(
        &mut self,
        page: Result<Json, ErrorObject>,
        revision: Revision,
        now: Duration,
    ) {
        let Ok(page) = page else {
            return self.tell_refused();
        };
        // A tool that breaks the rule is left out of the application's own list, and told there.
        let _ = self.learn(&page, revision);
        self.state.tools.pages += 1;
        let next = page.get("nextCursor").filter(|cursor| !cursor.is_null());
        match next.filter(|_| self.state.tools.pages < PAGES) {
            Some(cursor) => self.post_list(Some(cursor), revision),
            None => {
                for refused in std::mem::take(&mut self.state.tools.refused) {
                    self.send_later(AppRequest {
                        has_relisted: true,
                        ..refused.request
                    });
                }
                self.start(now);
            }
        }
    }

    /// The tools could not be had: the calls stay refused.
    pub(crate) fn tell_refused(&mut self) {
        for refused in std::mem::take(&mut self.state.tools.refused) {
            let RefusedCall {
                request,
                error,
                revision,
            } = refused;
            self.tell_error(request, None, error, revision);
        }
    }
}

impl Learned {
    /// Returns whether a result of `tools/list` may change what is known.
    fn is_told_by(&self, page: &Json) -> bool {
        !self.tools.is_empty() || page.text().contains(WORD)
    }
}

impl Param {
    /// Returns the text that the header has before it is encoded: the value in the arguments. `None` if they have no such value.
    fn value(&self, arguments: Option<&Json>) -> Option<String> {
        Some(text_of(self.find(arguments?)?))
    }
}
