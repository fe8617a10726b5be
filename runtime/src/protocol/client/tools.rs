//! Parameters of tools that headers repeat, learned from the lists of the server.

use std::collections::BTreeMap;

use mcp_registry::{ProtocolHeader, Revision};
use mcp_wire::{Json, JsonObject, Map};

use super::send::member;
use super::{Channel, Client};
use crate::Spoken;
use crate::methods;
use crate::protocol::params::{self, Param};
use crate::protocol::{Connection, Ignored};

/// What was learned, by tool; those without such parameters are not among them.
pub(super) type Tools = BTreeMap<String, Vec<Param>>;

/// How many tools with such parameters are remembered.
const MOST: usize = 10_000;

impl<App: Spoken> Connection<Client<App>> {
    fn repeats_params(&self, revision: Revision) -> bool {
        self.side.options.channel == Channel::Http
            && revision.has_header(ProtocolHeader::McpParamName)
    }

    /// Learns from a list of tools; the list without those that break the rule, if there are any.
    pub(super) fn learn(&mut self, result: &Json, revision: Revision) -> Option<Json> {
        if !self.repeats_params(revision)
            || (self.state.tools.is_empty() && !result.text().contains(params::WORD))
        {
            return None;
        }
        let listed: Vec<JsonObject> = member(result, "tools")?.read().ok()?;
        let count = listed.len();
        let mut kept = Vec::new();
        for tool in listed {
            let name = tool.get("name").and_then(|name| name.read::<String>().ok());
            let name = name.unwrap_or_default();
            let params = tool
                .get("inputSchema")
                .map(|schema| params::of_schema(&schema));
            self.state.tools.remove(&name);
            match params.unwrap_or_else(|| Ok(Vec::new())) {
                Ok(params) => {
                    if !params.is_empty() && self.state.tools.len() < MOST {
                        self.state.tools.insert(name, params);
                    }
                    kept.push(Json::from(tool));
                }
                Err(why) => {
                    let why = format!("the tool `{name}` is left out: {why}");
                    self.ignore(Ignored::Invalid(methods::TOOLS_LIST.to_owned(), why));
                }
            }
        }
        if kept.len() == count {
            return None;
        }
        let mut members: Map<Json> = result.read().ok()?;
        members.insert("tools", Json::of(&kept));
        Some(Json::of(&members))
    }

    /// The headers that repeat the arguments of a call, but for those that the application gave.
    pub(super) fn repeated(
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
        let name = params.and_then(|params| member(params, "name")?.read::<String>().ok());
        let learned = name.and_then(|name| self.state.tools.get(&name));
        let arguments = params.and_then(|params| member(params, "arguments"));
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
}
