//! The server that a call is for, by the name or the URI in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_revisions::sansio::server::IncomingRequest;
use mcp_revisions::serve::Peer;
use mcp_revisions::{core::methods, sansio::errors};
use mcp_wire::{ErrorObject, Json, Map};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tracing::warn;

use super::items::{params_of, text};
use super::{Gateway, GatewayMember, lists, names};
use crate::link::Rewrite;

impl Gateway {
    /// Passes a call on to the server that its name begins with. `list` is the method of the list that has the name.
    pub(super) async fn call_by_name(
        &self,
        list: &'static str,
        mut call: IncomingRequest,
        peer: Peer,
    ) -> Result<Json, ErrorObject> {
        let mut params = params_of(&call.params);
        let named = text(&params, "name");
        let named =
            named.ok_or_else(|| errors::invalid_params("`name` is required, and a text").error)?;
        let (member, name) = self.find(list, &named, &call, &peer).await?;
        params.insert("name", Json::of(&name));
        call.params = Json::of(&params);
        let result = member
            .proxy
            .call_as_part(call, peer, Some(self.rewrite(&member)))
            .await?;
        self.outward_links(&member, result)
    }

    /// Passes a call on that reads a resource.
    pub(super) async fn read(
        &self,
        call: IncomingRequest,
        peer: Peer,
    ) -> Result<Json, ErrorObject> {
        let uri = call.params.read_member::<String>("uri");
        let uri =
            uri.ok_or_else(|| errors::invalid_params("`uri` is required, and a text").error)?;
        let (member, own, result) = self
            .call_by_uri(&uri, call, peer, |params, own| {
                params.insert("uri", Json::of(own));
            })
            .await?;
        self.outward_contents(&member, (&own, &uri), &result)
    }

    /// Passes a completion on, of an argument of a prompt or of a URI template.
    pub(super) async fn complete(
        &self,
        mut call: IncomingRequest,
        peer: Peer,
    ) -> Result<Json, ErrorObject> {
        let reference = call
            .params
            .get("ref")
            .and_then(|it| it.read::<Map<Json>>().ok())
            .unwrap_or_default();
        if let Some(uri) = text(&reference, "uri") {
            let of_uri = |params: &mut Map<Json>, own: &str| {
                let mut changed = reference.clone();
                changed.insert("uri", Json::of(own));
                params.insert("ref", Json::of(&changed));
            };
            return Ok(self.call_by_uri(&uri, call, peer, of_uri).await?.2);
        }
        let Some(named) = text(&reference, "name") else {
            return Err(
                errors::invalid_params("`ref` is required, with a `name` or a `uri`").error,
            );
        };
        let (member, name) = self
            .find(methods::PROMPTS_LIST, &named, &call, &peer)
            .await?;
        let mut reference = reference;
        reference.insert("name", Json::of(&name));
        let mut params = params_of(&call.params);
        params.insert("ref", Json::of(&reference));
        call.params = Json::of(&params);
        member
            .proxy
            .call_as_part(call, peer, Some(self.rewrite(&member)))
            .await
    }

    /// Returns the server that a name is of, and the name that it has there.
    async fn find(
        &self,
        list: &'static str,
        named: &str,
        call: &IncomingRequest,
        peer: &Peer,
    ) -> Result<(Arc<GatewayMember>, String), ErrorObject> {
        let members = self.members();
        let prefixes: Vec<&str> = members.iter().map(|it| &*it.prefix).collect();
        let of = |own: &str| members.iter().find(|it| &*it.prefix == own).cloned();
        let mut owners = names::owners(&prefixes, named);
        if !names::is_shortened(named) {
            let found = owners
                .next()
                .and_then(|own| Some((of(own)?, names::rest(own, named)?.to_owned())));
            return found.ok_or_else(|| unknown(list, named, &prefixes));
        }
        let mut failed = None;
        for member in owners.filter_map(of) {
            let listing = IncomingRequest {
                method: list,
                params: Json::of(&Map::<Json>::default()),
                ..call.clone()
            };
            let time = self.0.settings.list_time;
            let listed = timeout(time, lists::list_all(&member, &listing, peer)).await;
            match listed.unwrap_or_else(|_| Err(lists::late(time))) {
                Ok(listed) => {
                    let names = listed
                        .items
                        .iter()
                        .filter_map(|item| item.read_member::<String>("name"));
                    let mut found = names
                        .filter(|name| names::outward(&prefixes, &member.prefix, name) == named);
                    if let Some(name) = found.next() {
                        return Ok((member, name));
                    }
                }
                Err(error) => failed = Some(error),
            }
        }
        Err(failed.unwrap_or_else(|| unknown(list, named, &prefixes)))
    }

    /// Passes a call on to the server that has a resource: `set` writes its URI there into the params. Where it is not known
    /// which server that is, those with a template that fits are asked, and then all others; each has its own wait.
    async fn call_by_uri(
        &self,
        uri: &str,
        call: IncomingRequest,
        peer: Peer,
        set: impl Fn(&mut Map<Json>, &str),
    ) -> Result<(Arc<GatewayMember>, String, Json), ErrorObject> {
        let members = self.members();
        let (likely, others, own) = self.0.uris.servers(uri);
        let mut params = params_of(&call.params);
        set(&mut params, own);
        let call = IncomingRequest {
            params: Json::of(&params),
            ..call
        };
        let is_certain = likely.len() + others.len() == 1;
        let mut refused = None;
        for servers in [likely, others] {
            let mut asked = JoinSet::new();
            let asking = members.iter().filter(|it| servers.contains(&it.prefix));
            for (at, member) in asking.enumerate() {
                let (member, call, peer) = (Arc::clone(member), call.clone(), peer.clone());
                let rewrite = Some(self.rewrite(&member));
                let time = self.0.settings.list_time;
                asked.spawn(async move {
                    let answer = member.proxy.call_as_part(call, peer, rewrite);
                    // It may not be the server that has the resource.
                    let answer = if is_certain {
                        Ok(answer.await)
                    } else {
                        timeout(time, answer).await
                    };
                    let result = answer.unwrap_or_else(|_| Err(lists::late(time)));
                    (at, member, result)
                });
            }
            // The first server of the file that has it, and not the fastest one.
            let (mut answers, mut next) = (BTreeMap::new(), 0);
            while let Some(answered) = asked.join_next().await {
                let Ok((at, member, answer)) = answered else {
                    continue;
                };
                answers.insert(at, (member, answer));
                while let Some((member, answer)) = answers.remove(&next) {
                    match answer {
                        Ok(result) => return Ok((member, own.to_owned(), result)),
                        Err(error) => drop(refused.get_or_insert(error)),
                    }
                    next += 1;
                }
            }
        }
        Err(refused.unwrap_or_else(|| {
            errors::invalid_params("no server of this gateway has such a resource").error
        }))
    }

    /// Returns the params of a notification about a resource as clients see them; `None` if they cannot be changed.
    pub(super) fn outward_notice(&self, member: &GatewayMember, params: &Json) -> Option<Json> {
        self.outward_uri_of(member, params)
            .inspect_err(|why| {
                warn!(
                    server = member.name,
                    "left out a notification of a resource: {why}"
                )
            })
            .ok()
    }

    /// Returns the prefix of the server that a tool is of, by the beginning of its name.
    pub(super) fn tool_group(&self, named: &str) -> Option<String> {
        let members = self.members();
        let prefixes: Vec<&str> = members.iter().map(|it| &*it.prefix).collect();
        names::owners(&prefixes, named).next().map(str::to_owned)
    }

    /// Returns the rewriting of a server's notifications for clients.
    pub(super) fn rewrite(&self, member: &Arc<GatewayMember>) -> Rewrite {
        let (gateway, member) = (self.clone(), Arc::clone(member));
        Rewrite::new(move |method, params: Json| {
            if method != methods::NOTIFICATIONS_RESOURCES_UPDATED {
                return Some(params);
            }
            gateway.outward_notice(&member, &params)
        })
    }
}

/// Returns the error for a name of no server.
fn unknown(list: &str, named: &str, prefixes: &[&str]) -> ErrorObject {
    let kind = if list == methods::TOOLS_LIST {
        "tool"
    } else {
        "prompt"
    };
    let named = mcp_revisions_core::errors::shortened(named);
    let beginnings: Vec<String> = prefixes.iter().map(|own| format!("{own}_")).collect();
    let why = if beginnings.is_empty() {
        "there is no server".to_owned()
    } else {
        format!("names begin with {}", beginnings.join(", "))
    };
    errors::invalid_params(&format!("no {kind} is called `{named}`: {why}")).error
}
