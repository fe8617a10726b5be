//! URIs in results and notifications as clients see them.

use mcp_revisions::sansio::errors;
use mcp_wire::{ErrorObject, Json, Kind};

use super::items::{members, text};
use super::{Gateway, GatewayMember};

impl Gateway {
    /// Returns the result of a tool or a prompt, whose links and resources are addressed as in lists. Returns the error for the
    /// client if they cannot be: a link could lead to a resource of another server.
    pub(super) fn outward_links(
        &self,
        member: &GatewayMember,
        result: Json,
    ) -> Result<Json, ErrorObject> {
        // Most results have none: what no text of the result spells is not in it.
        if !result.text().contains(r#""resource"#) && !result.text().contains('\\') {
            return Ok(result);
        }
        let block = |block: &Json| self.outward_block(member, block);
        let outward = within(&result, "content", |content| each(content, block)).and_then(|it| {
            within(&it, "messages", |messages| {
                each(messages, |message| within(message, "content", block))
            })
        });
        outward.map_err(|why| unreadable(member, &why))
    }

    fn outward_block(&self, member: &GatewayMember, block: &Json) -> Result<Json, String> {
        match block.read_member::<String>("type").as_deref() {
            Some("resource_link") => self.outward_uri_of(member, block),
            Some("resource") => within(block, "resource", |resource| {
                self.outward_uri_of(member, resource)
            }),
            _ => Ok(block.clone()),
        }
    }

    /// Returns an object whose `uri` is as clients see it. Returns the reason why it cannot be changed, such as a `uri` that is
    /// there twice.
    pub(super) fn outward_uri_of(
        &self,
        member: &GatewayMember,
        object: &Json,
    ) -> Result<Json, String> {
        let mut members = members(object)?;
        if let Some(uri) = text(&members, "uri") {
            let outward = self.0.uris.outward(&member.prefix, &uri);
            if outward != uri {
                members.insert("uri", Json::of(&outward));
                return Ok(Json::of(&members));
            }
        }
        Ok(object.clone())
    }

    /// Returns the contents of a resource, under the URI by which the client has read it: `own` at the server. Fails as
    /// [`outward_links`](Self::outward_links).
    pub(super) fn outward_contents(
        &self,
        member: &GatewayMember,
        (own, asked): (&str, &str),
        result: &Json,
    ) -> Result<Json, ErrorObject> {
        let content = |content: &Json| match content.read_member::<String>("uri") {
            Some(uri) if uri == own => {
                // The server that has it is known from now on.
                if own == asked {
                    self.0.uris.outward(&member.prefix, own);
                }
                within(content, "uri", |_| Ok(Json::of(asked)))
            }
            _ => self.outward_uri_of(member, content),
        };
        within(result, "contents", |contents| each(contents, content))
            .map_err(|why| unreadable(member, &why))
    }
}

/// Returns the error for a client whose server has answered with what cannot be addressed.
fn unreadable(member: &GatewayMember, why: &str) -> ErrorObject {
    let why = format!(
        "the result of the server {} cannot be read: {why}",
        member.name
    );
    errors::internal(&why).error
}

/// Returns an array whose values are changed; another value as it is.
fn each(array: &Json, change: impl Fn(&Json) -> Result<Json, String>) -> Result<Json, String> {
    match array.read::<Vec<Json>>() {
        Ok(values) => {
            let changed: Result<Vec<Json>, _> = values.iter().map(change).collect();
            Ok(Json::of(&changed?))
        }
        Err(_) => Ok(array.clone()),
    }
}

/// Returns an object with a member that is changed, if it has it; another value as it is.
pub(super) fn within(
    object: &Json,
    name: &str,
    change: impl FnOnce(&Json) -> Result<Json, String>,
) -> Result<Json, String> {
    if object.kind() != Kind::Object {
        return Ok(object.clone());
    }
    let mut members = members(object)?;
    if let Some(member) = members.get_mut(name) {
        *member = change(member)?;
    }
    Ok(Json::of(&members))
}
