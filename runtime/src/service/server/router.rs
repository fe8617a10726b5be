//! A server as a router builds it.

use mcp_revisions_core::Spoken;
use mcp_wire::{Encode, Json};

use super::{McpServer, Server};
use crate::layer::Layers;

impl<App: Spoken> Server<App> {
    /// Sets these capabilities, unless others are set already.
    pub(in crate::service) fn or_capabilities(mut self, capabilities: &impl Encode) -> Self {
        self.capabilities
            .get_or_insert_with(|| Json::of(capabilities));
        self
    }
}

impl<App: Spoken> McpServer<App> {
    /// Adds the layers of a router.
    pub(in crate::service) fn with_layers(mut self, layers: &Layers) -> Self {
        self.layers.append(layers);
        self
    }

    /// Takes the tools of a `tools/list` result as those of every caller.
    pub(in crate::service) fn with_known_tools(mut self, page: Json) -> Self {
        self.http.tools = Some(page);
        self
    }
}
