//! The entries of lists as clients see them: names with their prefix, URIs of their own.

use mcp_revisions::core::methods;
use mcp_wire::{EXCERPT, Json, JsonObject, Kind, Map, excerpt};
use tracing::warn;

use super::{Gateway, GatewayMember, names};

/// Returns the member of a result that is the list.
pub(super) fn list_of(method: &str) -> &'static str {
    match method {
        methods::TOOLS_LIST => "tools",
        methods::PROMPTS_LIST => "prompts",
        methods::RESOURCES_TEMPLATES_LIST => "resourceTemplates",
        _ => "resources",
    }
}

pub(super) fn text(object: &Map<Json>, member: &str) -> Option<String> {
    object.get(member)?.read().ok()
}

/// Returns the members of an object. Returns the reason why they cannot be read, such as a member that is there twice.
pub(super) fn members(object: &Json) -> Result<Map<Json>, String> {
    object.read().map_err(|why| why.to_string())
}

/// Returns the params of a request, of a member that is there twice the last one; no members if they are not an object.
pub(super) fn params_of(request: &Json) -> Map<Json> {
    let object = JsonObject::try_from(request.clone());
    let members = object.iter().flat_map(JsonObject::iter);
    members
        .filter_map(|(name, text)| Some((name.into_owned(), Json::from_text(text).ok()?)))
        .collect()
}

impl Gateway {
    /// Returns the entries of a list of a server as clients see them. One that cannot be renamed is left out: under a name that its
    /// server chose it could stand for an entry of another server.
    pub(super) fn outward_items(
        &self,
        method: &'static str,
        member: &GatewayMember,
        items: Vec<Json>,
    ) -> Vec<Json> {
        let (mut left_out, mut first) = (0_usize, None);
        let renamed = items.into_iter().filter_map(|item| {
            let outward = self.outward_item(method, member, &item);
            outward
                .inspect_err(|why| {
                    left_out += 1;
                    first
                        .get_or_insert_with(|| format!("{}: {why}", excerpt(item.text(), EXCERPT)));
                })
                .ok()
        });
        let outward = renamed.collect();
        if let Some(first) = first {
            let list = list_of(method);
            warn!(
                server = member.name,
                left_out, "{list} without a name of their own, the first: {first}"
            );
        }
        outward
    }

    /// Returns an entry of a list of a server as clients see it. Returns the reason why it cannot be renamed.
    fn outward_item(
        &self,
        method: &'static str,
        member: &GatewayMember,
        item: &Json,
    ) -> Result<Json, String> {
        let mut object = members(item)?;
        let key = match method {
            methods::TOOLS_LIST | methods::PROMPTS_LIST => "name",
            methods::RESOURCES_TEMPLATES_LIST => "uriTemplate",
            _ => "uri",
        };
        let own = text(&object, key).ok_or_else(|| format!("`{key}`: expected a text"))?;
        let outward = match key {
            "name" => self.outward_name(member, &own),
            "uriTemplate" => {
                self.0.uris.template(&member.prefix, &own);
                self.0.uris.outward(&member.prefix, &own)
            }
            _ => self.0.uris.outward(&member.prefix, &own),
        };
        object.insert(key, Json::of(&outward));
        if method == methods::TOOLS_LIST
            && let Some(meta) = object.get_mut("_meta")
        {
            *meta = self.outward_meta(member, meta)?;
        }
        Ok(Json::of(&object))
    }

    /// Returns `_meta` of a tool with the URI of its user interface as clients see it.
    fn outward_meta(&self, member: &GatewayMember, meta: &Json) -> Result<Json, String> {
        if meta.kind() != Kind::Object {
            return Ok(meta.clone());
        }
        let mut named = members(meta)?;
        let outward = |object: &mut Map<Json>, key| {
            if let Some(uri) = text(object, key) {
                object.insert(key, Json::of(&self.0.uris.outward(&member.prefix, &uri)));
            }
        };
        if let Some(ui) = named.get_mut("ui").filter(|ui| ui.kind() == Kind::Object) {
            let mut nested = members(ui)?;
            outward(&mut nested, "resourceUri");
            *ui = Json::of(&nested);
        }
        // The spelling of hosts before the extension was released.
        outward(&mut named, "ui/resourceUri");
        Ok(Json::of(&named))
    }

    fn outward_name(&self, member: &GatewayMember, name: &str) -> String {
        let members = self.members();
        let prefixes: Vec<&str> = members.iter().map(|it| &*it.prefix).collect();
        names::outward(&prefixes, &member.prefix, name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_params_that_are_there_twice_the_last_ones_count() {
        let params = r#"{"arguments":{"a":1,"a":2},"name":"t","\u0061rguments":{"b":1,"b":2}}"#;
        let params = Json::from_text(params).map(|params| params_of(&params));
        let found = params.map(|params| Json::of(&params).into_text());
        let expected = r#"{"arguments":{"b":1,"b":2},"name":"t"}"#;
        assert_eq!(found.as_deref(), Ok(expected));
        assert!(Json::from_text("[1]").is_ok_and(|list| params_of(&list).is_empty()));
    }
}
