//! An operator's rules for the tools that clients see, and for their names, as a layer around lists and calls.

use std::sync::Arc;

use mcp_revisions::http::{Principal, TokenClaims};
use mcp_revisions::layer::LayerMessage;
use mcp_revisions::serve::Peer;
use mcp_revisions::{core::methods, sansio::errors};
use mcp_revisions_core::errors::shortened;
use mcp_wire::{Direction, EXCERPT, ErrorObject, Json, Map, excerpt};
use tracing::warn;

/// Returns whether a client sees a tool.
type IsSeen = dyn Fn(&str, &Peer) -> bool + Send + Sync;

/// A function of the application that filters tools; only clones are equal.
#[derive(Clone)]
struct ToolFilter(Arc<IsSeen>);

impl PartialEq for ToolFilter {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl std::fmt::Debug for ToolFilter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ToolFilter")
    }
}

/// Rules for the tools of a server: which ones a client sees, and their names and descriptions. By default, all as they are.
///
/// Patterns and names are those of the server, before a tool is renamed; `*` in a pattern stands for any text. A tool that a client
/// does not see is left out of `tools/list`, and a call of it gets the error of a tool that does not exist.
///
/// ```
/// use mcp_bridge::ToolRules;
///
/// let rules = ToolRules::new()
///     .allow("git_*")
///     .deny("git_push*")
///     .only_with_scope("repository:write", "git_commit")
///     .rename("git_log", "history")
///     .describe("git_log", "Lists the last commits");
/// # drop(rules);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[must_use]
pub struct ToolRules {
    /// The text before a name when it is compared with patterns.
    prefix: String,
    /// Patterns of the tools that are allowed; `None` allows all.
    allowed: Option<Vec<String>>,
    denied: Vec<String>,
    /// Patterns of the tools that clients see under a condition.
    conditions: Vec<(ClientCondition, String)>,
    filter: Option<ToolFilter>,
    renamed: Map<String>,
    described: Map<String>,
}

/// A condition under which a client sees a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ClientCondition {
    Scope(String),
    Principal(String),
}

impl ClientCondition {
    /// Returns whether a client meets the condition. A client without an access token has no scope.
    fn is_met(&self, peer: &Peer) -> bool {
        match self {
            Self::Scope(scope) => peer
                .extension::<TokenClaims>()
                .is_some_and(|claims| claims.scopes().contains(scope)),
            Self::Principal(name) => {
                let subject = peer
                    .extension::<TokenClaims>()
                    .and_then(TokenClaims::subject);
                let principal = peer.extension::<Principal>().map(|it| &it.0);
                subject.as_ref() == Some(name) || principal == Some(name)
            }
        }
    }
}

impl ToolRules {
    /// Creates rules by which clients see all tools as they are.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates rules by which clients see the tools that a function admits, by name and client.
    pub fn by(admits: impl Fn(&str, &Peer) -> bool + Send + Sync + 'static) -> Self {
        Self {
            filter: Some(ToolFilter(Arc::new(admits))),
            ..Self::default()
        }
    }

    /// Sets the text before names of tools when they are compared with patterns, such as the `git_` of a gateway.
    pub fn with_prefix(mut self, prefix: &str) -> Self {
        prefix.clone_into(&mut self.prefix);
        self
    }

    /// Shows the tools that fit this pattern, besides those of other allowed patterns, and hides the rest.
    pub fn allow(mut self, pattern: &str) -> Self {
        self.allowed
            .get_or_insert_default()
            .push(pattern.to_owned());
        self
    }

    /// Hides all tools that fit no allowed pattern.
    pub fn allow_only(mut self) -> Self {
        self.allowed.get_or_insert_default();
        self
    }

    /// Hides the tools that fit this pattern, even if they are allowed.
    pub fn deny(mut self, pattern: &str) -> Self {
        self.denied.push(pattern.to_owned());
        self
    }

    /// Shows the tools that fit this pattern only to clients whose access token has this scope, or that meet another condition
    /// for the tool.
    pub fn only_with_scope(mut self, scope: &str, pattern: &str) -> Self {
        let condition = ClientCondition::Scope(scope.to_owned());
        self.conditions.push((condition, pattern.to_owned()));
        self
    }

    /// Shows the tools that fit this pattern only to this principal, or subject of an access token, and to clients that meet
    /// another condition for the tool.
    pub fn only_for(mut self, principal: &str, pattern: &str) -> Self {
        let condition = ClientCondition::Principal(principal.to_owned());
        self.conditions.push((condition, pattern.to_owned()));
        self
    }

    /// Shows a tool under another name. A tool of the server that has this name already is hidden.
    pub fn rename(mut self, tool: &str, name: &str) -> Self {
        self.renamed.insert(tool, name.to_owned());
        self
    }

    /// Shows a tool with this description.
    pub fn describe(mut self, tool: &str, description: &str) -> Self {
        self.described.insert(tool, description.to_owned());
        self
    }

    /// Returns whether clients see all tools as they are.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        Self {
            prefix: String::new(),
            ..self.clone()
        } == Self::default()
    }

    /// Returns whether a client sees a tool, by the name that the server has for it.
    fn admits(&self, name: &str, peer: &Peer) -> bool {
        let full = format!("{}{name}", self.prefix);
        let has = |patterns: &[String]| patterns.iter().any(|pattern| fits(pattern, &full));
        let mut conditions = (self.conditions.iter())
            .filter(|(_, pattern)| fits(pattern, &full))
            .map(|(condition, _)| condition.is_met(peer))
            .peekable();
        self.allowed.as_deref().is_none_or(has)
            && !has(&self.denied)
            && (conditions.peek().is_none() || conditions.any(|is_met| is_met))
            && (self.filter.as_ref()).is_none_or(|filter| (filter.0)(name, peer))
    }

    /// Returns the name under which clients see a tool; `None` if another tool is seen under its name.
    fn outward<'n>(&'n self, name: &'n str) -> Option<&'n str> {
        match self.renamed.get(name) {
            Some(shown) => Some(shown),
            None if self.renamed.values().any(|shown| shown == name) => None,
            None => Some(name),
        }
    }

    /// Returns the name that the server has for a tool that clients see under this one; `None` if they see none.
    fn inward<'n>(&'n self, shown: &'n str) -> Option<&'n str> {
        let own = self.renamed.iter().find(|(_, name)| *name == shown);
        match own {
            Some((own, _)) => Some(own),
            None if self.renamed.contains_key(shown) => None,
            None => Some(shown),
        }
    }

    /// Forwards a message: a call with the server's name of the tool. The result of `tools/list` is returned as its client sees it.
    pub(crate) async fn apply(self: Arc<Self>, message: LayerMessage) -> Result<Json, ErrorObject> {
        let is_call = message.is_request() && message.direction() == Direction::ClientToServer;
        let Some(peer) = message.peer().filter(|_| is_call).cloned() else {
            return message.forward().await;
        };
        match message.method() {
            methods::TOOLS_CALL => {
                let call = self.inward_call(message.params(), &peer)?;
                message.with_params(call).forward().await
            }
            methods::TOOLS_LIST => self.outward_list(message.forward().await?, &peer),
            _ => message.forward().await,
        }
    }

    /// Returns the params of a call with the name that the server has for the tool.
    fn inward_call(&self, params: &Json, peer: &Peer) -> Result<Json, ErrorObject> {
        // A name that cannot be read, or two of them, may be that of a hidden tool for the server.
        let readable = params.read::<Map<Json>>().ok();
        let named = readable.and_then(|it| Some((it.get("name")?.read::<String>().ok()?, it)));
        let Some((shown, mut members)) = named else {
            return Err(errors::invalid_params("`name` is required once, and a text").error);
        };
        match self.inward(&shown).filter(|own| self.admits(own, peer)) {
            Some(own) if own == shown => Ok(params.clone()),
            Some(own) => {
                members.insert("name", Json::of(own));
                Ok(Json::of(&members))
            }
            // The error of a tool that does not exist.
            None => {
                let why = format!("no tool `{}`", shortened(&shown));
                Err(errors::invalid_params(&why).error)
            }
        }
    }

    /// Returns the result of `tools/list` as a client sees it. A tool whose name cannot be read is left out.
    fn outward_list(&self, result: Json, peer: &Peer) -> Result<Json, ErrorObject> {
        let unreadable = |why: mcp_wire::Error| {
            errors::internal(&format!(
                "the list of tools of the server cannot be read: {why}"
            ))
            .error
        };
        let mut page = result.read::<Map<Json>>().map_err(unreadable)?;
        let Some(tools) = page.get_mut("tools") else {
            return Ok(result);
        };
        let listed = tools.read::<Vec<Json>>().map_err(unreadable)?;
        let shown = listed.into_iter().filter_map(|tool| {
            let Ok(members) = tool.read::<Map<Json>>() else {
                let tool = excerpt(tool.text(), EXCERPT);
                warn!(tool, "left out of tools/list: it cannot be read");
                return None;
            };
            self.outward_tool(tool, members, peer)
        });
        *tools = Json::of(&shown.collect::<Vec<_>>());
        Ok(Json::of(&page))
    }

    /// Returns a tool as a client sees it; `None` if it does not.
    fn outward_tool(&self, tool: Json, mut members: Map<Json>, peer: &Peer) -> Option<Json> {
        let own = members.get("name")?.read::<String>().ok()?;
        if !self.admits(&own, peer) {
            return None;
        }
        let Some(shown) = self.outward(&own) else {
            let tool = excerpt(&own, EXCERPT);
            warn!(
                tool,
                "left out of tools/list: another tool has been given its name"
            );
            return None;
        };
        let description = self.described.get(&own);
        if shown == own && description.is_none() {
            return Some(tool);
        }
        members.insert("name", Json::of(shown));
        if let Some(description) = description {
            members.insert("description", Json::of(description));
        }
        Some(Json::of(&members))
    }
}

fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    // The earliest match of each part leaves the longest rest for the parts that follow.
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_say_which_tools_are_seen() {
        for (pattern, name, is_it) in [
            ("read", "read", true),
            ("read", "reads", false),
            ("read_*", "read_file", true),
            ("*_file", "read_file", true),
            ("*", "", true),
            ("r*d*e", "read_file", true),
            ("a*a", "a", false),
            ("*x*", "read", false),
        ] {
            assert_eq!(fits(pattern, name), is_it, "{pattern} {name}");
        }
    }

    #[test]
    fn a_renamed_tool_is_found_by_its_new_name_only() {
        let rules = ToolRules::new().rename("a", "b").rename("b", "c");
        assert_eq!(
            ["a", "b", "c", "d"].map(|own| rules.outward(own)),
            [Some("b"), Some("c"), None, Some("d")]
        );
        assert_eq!(
            ["a", "b", "c", "d"].map(|shown| rules.inward(shown)),
            [None, Some("a"), Some("b"), Some("d")]
        );
    }
}
