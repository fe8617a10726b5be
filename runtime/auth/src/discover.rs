//! Discovery: from the MCP server to its authorization server, with a fallback to 2025-03-26 only on evidence.

use url::Url;

use crate::address::{
    check, is_resource_of, is_same_issuer, issuer_places, origin, resource_places,
};
use crate::document::{ServerMetadata, is_scope, object, text, texts};
use crate::error::harmless;
use crate::step::{Desk, FlowMethod, FlowPurpose, FlowRequest};
use crate::{AuthError, Challenge, FlowResponse, Settings};

/// Maximum number of authorization servers of a resource that are looked at.
const SERVERS: usize = 20;

/// The result of discovery.
pub(crate) struct Discovered {
    /// The resource, exactly as its metadata name it; `None` for a server of 2025-03-26.
    pub(crate) resource: Option<String>,
    /// The scopes that the resource lists.
    pub(crate) scopes: Vec<String>,
    /// Set if the resource wants tokens that are bound to a key.
    pub(crate) wants_dpop: bool,
    /// The authorization server.
    pub(crate) server: ServerMetadata,
}

/// Metadata of the resource.
struct ResourceMetadata {
    resource: String,
    issuers: Vec<String>,
    scopes: Vec<String>,
    wants_dpop: bool,
}

/// Finds the authorization server. `kept` is the issuer that a registration is kept of.
pub(crate) async fn discover(
    desk: &Desk,
    settings: &Settings,
    challenge: Option<&Challenge>,
    version: Option<&str>,
    kept: Option<&str>,
) -> Result<Discovered, AuthError> {
    let server = Url::parse(&settings.server).map_err(|_| AuthError::Address {
        whose: "the MCP server".to_owned(),
        url: harmless(&settings.server),
        why: "it is not a valid URL",
    })?;
    let reader = DocumentReader { desk, version };
    let named = challenge.and_then(|it| it.get("resource_metadata"));
    let Some(resource) = reader.resource(named, &server).await? else {
        if let Some(named) = named {
            return Err(AuthError::Document {
                url: harmless(named),
                why: "the server names its metadata here, and nothing is there".to_owned(),
            });
        }
        let server = reader.own_server(settings, &server).await?;
        return Ok(Discovered {
            resource: None,
            scopes: Vec::new(),
            wants_dpop: false,
            server,
        });
    };
    let issuer = match &settings.issuer {
        Some(issuer) => issuer.clone(),
        None => {
            let is_kept = |one: &&String| kept.is_some_and(|kept| is_same_issuer(kept, one));
            let mut all = resource.issuers.iter();
            let issuer = all.clone().find(is_kept).or_else(|| all.next());
            issuer.cloned().unwrap_or_default()
        }
    };
    let metadata = reader.server(&issuer, &server).await?;
    let Some(metadata) = metadata else {
        return Err(AuthError::Document {
            url: issuer,
            why: "the authorization server has no metadata at its well-known places".to_owned(),
        });
    };
    Ok(Discovered {
        resource: Some(resource.resource),
        scopes: resource.scopes,
        wants_dpop: resource.wants_dpop,
        server: metadata,
    })
}

/// Reads documents, with the protocol version of the request that was refused.
struct DocumentReader<'a> {
    desk: &'a Desk,
    version: Option<&'a str>,
}

impl DocumentReader<'_> {
    async fn get(&self, url: &str, purpose: FlowPurpose) -> Result<FlowResponse, AuthError> {
        let mut headers = vec![("Accept", "application/json".to_owned())];
        headers.extend(
            self.version
                .map(|it| ("MCP-Protocol-Version", it.to_owned())),
        );
        let request = FlowRequest {
            purpose,
            method: FlowMethod::Get,
            url: url.to_owned(),
            headers,
            body: None,
        };
        self.desk.send(request).await
    }

    /// Returns the metadata of the resource; `None` if no place has a document, which only a server of 2025-03-26 lacks.
    async fn resource(
        &self,
        named: Option<&str>,
        server: &Url,
    ) -> Result<Option<ResourceMetadata>, AuthError> {
        let mut places = Vec::new();
        if let Some(named) = named {
            // The request goes to the URL as it was read: its text may have spaces or line breaks, which reading drops.
            let named = check("resource_metadata of the challenge", named, server)?;
            places.push(named.to_string());
        }
        places.extend(resource_places(server));
        places.dedup();
        for place in places {
            let answer = self.get(&place, FlowPurpose::Resource).await?;
            let Some(body) = object(&answer).filter(|_| answer.status == 200) else {
                continue;
            };
            let Some(resource) = text(&body, "resource") else {
                continue;
            };
            if !is_resource_of(&resource, server) {
                return Err(AuthError::Resource {
                    url: place,
                    expected: server.to_string(),
                    found: harmless(&resource),
                });
            }
            let mut issuers = texts(&body, "authorization_servers").unwrap_or_default();
            // Some servers write the singular.
            issuers.extend(text(&body, "authorization_server"));
            issuers.truncate(SERVERS);
            for issuer in &issuers {
                check(&format!("authorization_servers at {place}"), issuer, server)?;
            }
            if issuers.is_empty() {
                return Err(AuthError::Document {
                    url: place,
                    why: "expected at least one entry of `authorization_servers`".to_owned(),
                });
            }
            let mut scopes = texts(&body, "scopes_supported").unwrap_or_default();
            scopes.retain(|scope| is_scope(scope));
            let wants = body.get("dpop_bound_access_tokens_required");
            return Ok(Some(ResourceMetadata {
                resource,
                issuers,
                scopes,
                wants_dpop: wants.and_then(serde_json::Value::as_bool) == Some(true),
            }));
        }
        Ok(None)
    }

    /// Returns the metadata of an issuer; `None` if no well-known place has a document.
    async fn server(
        &self,
        issuer: &str,
        server: &Url,
    ) -> Result<Option<ServerMetadata>, AuthError> {
        let url = check("the issuer", issuer, server)?;
        for place in issuer_places(&url) {
            let answer = self.get(&place, FlowPurpose::Server).await?;
            let Some(body) = object(&answer).filter(|_| answer.status == 200) else {
                continue;
            };
            let found = text(&body, "issuer").unwrap_or_default();
            if !is_same_issuer(&found, issuer) {
                return Err(AuthError::Issuer {
                    url: place,
                    expected: issuer.to_owned(),
                    found: harmless(&found),
                });
            }
            return ServerMetadata::read(&body, &place, server).map(Some);
        }
        Ok(None)
    }

    /// Returns the authorization server of an MCP server of 2025-03-26: its own origin.
    async fn own_server(
        &self,
        settings: &Settings,
        server: &Url,
    ) -> Result<ServerMetadata, AuthError> {
        if let Some(issuer) = &settings.issuer {
            let metadata = self.server(issuer, server).await?;
            return metadata.ok_or_else(|| AuthError::Document {
                url: issuer.clone(),
                why: "the authorization server has no metadata at its well-known places".to_owned(),
            });
        }
        let own = origin(server);
        check("the MCP server", &own, server)?;
        let place = format!("{own}/.well-known/oauth-authorization-server");
        let answer = self.get(&place, FlowPurpose::Server).await?;
        let Some(body) = object(&answer).filter(|_| answer.status == 200) else {
            return Ok(ServerMetadata::assumed(&own));
        };
        let found = text(&body, "issuer").unwrap_or_default();
        if !is_same_issuer(&found, &own) {
            return Err(AuthError::Issuer {
                url: place,
                expected: own,
                found: harmless(&found),
            });
        }
        ServerMetadata::read(&body, &place, server)
    }
}
