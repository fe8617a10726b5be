//! The entries of lists as clients see them: names with their prefix, URIs of their own.

use mcp_revisions::methods;
use mcp_wire::{Json, Map};

use super::{Gateway, GatewayMember, lock, names};

/// Returns the member of a result that is the list.
pub(super) fn list_of(method: &str) -> &'static str {
    match method {
        methods::TOOLS_LIST => "tools",
        methods::PROMPTS_LIST => "prompts",
        methods::RESOURCES_TEMPLATES_LIST => "resourceTemplates",
        _ => "resources",
    }
}

/// Reads a member of an object as text.
pub(super) fn text(object: &Map<Json>, member: &str) -> Option<String> {
    object.get(member)?.read().ok()
}

impl Gateway {
    /// Returns an entry of a list of a server as clients see it; one that is not an object, or has no name, stays as it is.
    pub(super) fn outward_item(
        &self,
        method: &'static str,
        member: &GatewayMember,
        item: Json,
    ) -> Json {
        let Ok(mut object) = item.read::<Map<Json>>() else {
            return item;
        };
        let (key, outward) = match method {
            methods::TOOLS_LIST | methods::PROMPTS_LIST => {
                let Some(name) = text(&object, "name") else {
                    return item;
                };
                ("name", self.outward_name(method, member, &name))
            }
            methods::RESOURCES_TEMPLATES_LIST => {
                let Some(template) = text(&object, "uriTemplate") else {
                    return item;
                };
                self.0.uris.template(&member.prefix, &template);
                (
                    "uriTemplate",
                    self.0.uris.outward(&member.prefix, &template),
                )
            }
            _ => {
                let Some(uri) = text(&object, "uri") else {
                    return item;
                };
                ("uri", self.0.uris.outward(&member.prefix, &uri))
            }
        };
        object.insert(key, Json::of(&outward));
        if method == methods::TOOLS_LIST
            && let Some(meta) = self.outward_meta(member, &object)
        {
            object.insert("_meta", meta);
        }
        Json::of(&object)
    }

    /// Returns `_meta` of a tool with the URI of its user interface as clients see it; `None` if it names none.
    fn outward_meta(&self, member: &GatewayMember, tool: &Map<Json>) -> Option<Json> {
        let mut meta = tool.get("_meta")?.read::<Map<Json>>().ok()?;
        let outward = |uri: &str| Json::of(&self.0.uris.outward(&member.prefix, uri));
        let ui = meta.get("ui").and_then(|ui| ui.read::<Map<Json>>().ok());
        let nested = ui.and_then(|mut ui| {
            let uri = text(&ui, "resourceUri")?;
            ui.insert("resourceUri", outward(&uri));
            Some(Json::of(&ui))
        });
        // The spelling of hosts before the extension was released.
        let flat = text(&meta, "ui/resourceUri").map(|uri| outward(&uri));
        let is_changed = nested.is_some() || flat.is_some();
        for (name, value) in [("ui", nested), ("ui/resourceUri", flat)] {
            if let Some(value) = value {
                meta.insert(name, value);
            }
        }
        is_changed.then(|| Json::of(&meta))
    }

    fn outward_name(&self, method: &'static str, member: &GatewayMember, name: &str) -> String {
        let members = self.members();
        let prefixes: Vec<&str> = members.iter().map(|it| &*it.prefix).collect();
        let outward = names::outward(&prefixes, &member.prefix, name);
        if names::is_shortened(&outward) {
            lock(&self.0.shortened).insert(method, &outward, &member.prefix, name);
        }
        outward
    }
}
