//! URIs in results and notifications as clients see them.

use mcp_wire::{Json, Map};

use super::items::text;
use super::{Gateway, GatewayMember};

impl Gateway {
    /// Returns the result of a tool or a prompt, whose links and resources are addressed as in lists.
    pub(super) fn outward_links(&self, member: &GatewayMember, result: Json) -> Json {
        // Most results have none: what is not named in the text is not in the result.
        if !result.text().contains(r#""resource"#) {
            return result;
        }
        let Ok(mut object) = result.read::<Map<Json>>() else {
            return result;
        };
        if let Some(content) = object.get_mut("content") {
            *content = each(content, |block| self.outward_block(member, block));
        }
        if let Some(messages) = object.get_mut("messages") {
            *messages = each(messages, |message| {
                within(message, "content", |block| {
                    self.outward_block(member, block)
                })
            });
        }
        Json::of(&object)
    }

    fn outward_block(&self, member: &GatewayMember, block: &Json) -> Json {
        match block.read_member::<String>("type").as_deref() {
            Some("resource_link") => self.outward_uri_of(member, block.clone()),
            Some("resource") => within(block, "resource", |resource| {
                self.outward_uri_of(member, resource.clone())
            }),
            _ => block.clone(),
        }
    }

    /// Returns an object whose `uri` is as clients see it.
    pub(super) fn outward_uri_of(&self, member: &GatewayMember, object: Json) -> Json {
        let Ok(mut members) = object.read::<Map<Json>>() else {
            return object;
        };
        let Some(uri) = text(&members, "uri") else {
            return object;
        };
        let outward = self.0.uris.outward(&member.prefix, &uri);
        if outward == uri {
            return object;
        }
        members.insert("uri", Json::of(&outward));
        Json::of(&members)
    }

    /// Returns the contents of a resource, under the URI by which the client has read it: `own` at the server.
    pub(super) fn outward_contents(
        &self,
        member: &GatewayMember,
        (own, asked): (&str, &str),
        result: Json,
    ) -> Json {
        let Ok(mut object) = result.read::<Map<Json>>() else {
            return result;
        };
        if let Some(contents) = object.get_mut("contents") {
            *contents = each(contents, |content| {
                match content.read_member::<String>("uri") {
                    Some(uri) if uri == own => {
                        // The server that has it is known from now on.
                        if own == asked {
                            self.0.uris.outward(&member.prefix, own);
                        }
                        within(content, "uri", |_| Json::of(asked))
                    }
                    _ => self.outward_uri_of(member, content.clone()),
                }
            });
        }
        Json::of(&object)
    }
}

/// Returns an array whose values are changed; another value as it is.
fn each(array: &Json, change: impl Fn(&Json) -> Json) -> Json {
    match array.read::<Vec<Json>>() {
        Ok(values) => Json::of(&values.iter().map(change).collect::<Vec<_>>()),
        Err(_) => array.clone(),
    }
}

/// Returns an object with a member that is changed; another value as it is.
fn within(object: &Json, name: &str, change: impl FnOnce(&Json) -> Json) -> Json {
    let Ok(mut members) = object.read::<Map<Json>>() else {
        return object.clone();
    };
    if let Some(member) = members.get_mut(name) {
        *member = change(member);
    }
    Json::of(&members)
}
