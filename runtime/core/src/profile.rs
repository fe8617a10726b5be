//! The profile of an endpoint: its `Implementation`, its capabilities and its instructions.

use mcp_revisions_tables::Revision;
use mcp_wire::{Encode, Json, Map};

/// The `Implementation` and the capabilities of an endpoint, in the words of the application's revision.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Profile {
    pub(crate) info: Json,
    pub(crate) capabilities: Json,
    pub(crate) instructions: Option<String>,
    /// The revision of these words; the application's if none is named.
    pub(crate) revision: Option<Revision>,
    pub(crate) members: Map<Json>,
    /// Set if the peer has not named itself: its info is that of a gateway.
    pub(crate) is_nameless: bool,
}

impl Profile {
    /// Creates a profile of the `Implementation` and the capabilities of the application's revision: `ServerCapabilities` of a
    /// server, `ClientCapabilities` of a client.
    pub fn new(info: &impl Encode, capabilities: &impl Encode) -> Self {
        Self {
            info: Json::of(info),
            capabilities: Json::of(capabilities),
            instructions: None,
            revision: None,
            members: Map::new(),
            is_nameless: false,
        }
    }

    /// Names the revision that info and capabilities are of, where that is not the application's: a gateway hands on
    /// what it received. A peer of that revision gets exactly this.
    pub fn in_words_of(mut self, revision: Revision) -> Self {
        self.revision = Some(revision);
        self
    }

    /// Gives the info only to peers whose revision needs one: a gateway stands in for a server that has not named itself.
    pub fn nameless(mut self) -> Self {
        self.is_nameless = true;
        self
    }

    /// Adds members to the results of `initialize` and `server/discover`: converted between two revisions with a handshake, else
    /// as they are. Members that the endpoint sets itself stay as they are.
    pub fn with_members(self, members: Map<Json>) -> Self {
        Self { members, ..self }
    }

    /// Adds guidance for the model of the client to the profile of a server.
    pub fn with_instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Returns the `Implementation`.
    #[must_use]
    pub fn info(&self) -> &Json {
        &self.info
    }

    /// Returns the capabilities.
    #[must_use]
    pub fn capabilities(&self) -> &Json {
        &self.capabilities
    }

    /// Returns the revision of info and capabilities; `None` if it is the application's.
    #[must_use]
    pub fn revision(&self) -> Option<Revision> {
        self.revision
    }
}
