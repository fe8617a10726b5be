//! Discovery: from the MCP server to its authorization server, with a fallback to 2025-03-26 only on evidence.

use url::Url;

use crate::address::{
    check, is_resource_of, is_same_issuer, issuer_places, origin, resource_places,
};
use crate::document::{ServerMetadata, is_scope, names, object, text, texts};
use crate::error::harmless;
use crate::step::{Desk, FlowMethod, FlowPurpose, FlowRequest};
use crate::{AuthError, Challenge, FlowResponse, Settings};

/// Maximum number of authorization servers of a resource that are looked at.
const SERVERS: usize = 20;

/// The result of discovery.
pub(crate) struct DiscoveredServer {
    /// The resource, exactly as its metadata name it; `None` for a server of 2025-03-26.
    pub(crate) resource: Option<String>,
    /// The scopes that the resource lists.
    pub(crate) scopes: Vec<String>,
    /// Set if the resource wants tokens that are bound to a key.
    pub(crate) wants_dpop: bool,
    /// The authorization server.
    pub(crate) server: ServerMetadata,
}

#[derive(Default)]
struct ResourceMetadata {
    /// The URL; only a server of 2025-03-26 has none.
    resource: Option<String>,
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
) -> Result<DiscoveredServer, AuthError> {
    let server = Url::parse(&settings.server).map_err(|_| AuthError::Address {
        whose: "the MCP server".to_owned(),
        url: harmless(&settings.server),
        why: "it is not a valid URL",
    })?;
    let reader = DocumentReader { desk, version };
    let named = challenge.and_then(|it| it.get("resource_metadata"));
    let is_pinned = settings.issuer.is_some() || settings.issuer_metadata.is_some();
    let resource = match reader.resource(named, &server).await {
        Ok(None) if named.is_some() && !is_pinned => {
            return Err(AuthError::Document {
                url: harmless(named.unwrap_or_default()),
                why: "the server names its metadata here, and nothing is there".to_owned(),
            });
        }
        Ok(found) => found,
        Err(error @ AuthError::Resource { .. }) => return Err(error),
        // The issuer that a person names needs no document.
        Err(_) if is_pinned => None,
        Err(error) => return Err(error),
    };
    let mut metadata = match (&settings.issuer_metadata, &settings.issuer, &resource) {
        (Some(url), ..) => reader.named_server(settings, url, &server).await?,
        (None, Some(issuer), _) => reader.server(issuer, &server).await?,
        (None, None, Some(resource)) => {
            reader
                .listed_server(&resource.issuers, kept, &server)
                .await?
        }
        (None, None, None) => reader.own_server(&server).await?,
    };
    let is_assumed = metadata.pkce_methods.is_none() && settings.assumes_pkce;
    if resource.is_some() && !metadata.lists_s256() && !is_assumed {
        reader.add_pkce(&mut metadata, &server).await;
    }
    let found = resource.unwrap_or_default();
    Ok(DiscoveredServer {
        resource: found.resource,
        scopes: found.scopes,
        wants_dpop: found.wants_dpop,
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
            let mut issuers = names(&body, "authorization_servers");
            // Some servers write the singular.
            issuers.extend(names(&body, "authorization_server"));
            issuers.truncate(SERVERS);
            let mut scopes = texts(&body, "scopes_supported").unwrap_or_default();
            scopes.retain(|scope| is_scope(scope));
            let wants = body.get("dpop_bound_access_tokens_required");
            return Ok(Some(ResourceMetadata {
                resource: Some(resource),
                issuers,
                scopes,
                wants_dpop: wants.and_then(serde_json::Value::as_bool) == Some(true),
            }));
        }
        Ok(None)
    }

    /// Returns the metadata of one of the issuers that a resource lists: of the one that a registration is kept of, else of the
    /// first that can be used. Without any it is the origin of the MCP server.
    async fn listed_server(
        &self,
        issuers: &[String],
        kept: Option<&str>,
        server: &Url,
    ) -> Result<ServerMetadata, AuthError> {
        let is_kept = |one: &&String| kept.is_some_and(|kept| is_same_issuer(kept, one));
        if let Some(issuer) = issuers.iter().find(is_kept) {
            return self.server(issuer, server).await;
        }
        let mut first_error = None;
        for issuer in issuers {
            match self.server(issuer, server).await {
                Ok(metadata) => return Ok(metadata),
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        match first_error {
            Some(error) => Err(error),
            None => self.server(&origin(server), server).await,
        }
    }

    async fn server(&self, issuer: &str, server: &Url) -> Result<ServerMetadata, AuthError> {
        let url = check("the issuer", issuer, server)?;
        for place in issuer_places(&url) {
            if let Some(metadata) = self.metadata(&place, Some(issuer), server).await? {
                return Ok(metadata);
            }
        }
        Err(AuthError::Document {
            url: issuer.to_owned(),
            why: "the authorization server has no metadata at its well-known places; if it has them elsewhere, name their URL \
                  with --issuer-metadata"
                .to_owned(),
        })
    }

    /// Returns the metadata at a URL that a person names.
    async fn named_server(
        &self,
        settings: &Settings,
        url: &str,
        server: &Url,
    ) -> Result<ServerMetadata, AuthError> {
        let place = check("the metadata of the issuer", url, server)?.to_string();
        let issuer = settings.issuer.as_deref();
        let metadata = self.metadata(&place, issuer, server).await?;
        metadata.ok_or_else(|| AuthError::Document {
            url: place,
            why: "expected the metadata of an authorization server".to_owned(),
        })
    }

    /// Returns the metadata document of this issuer at a URL; `None` if the server has no document there.
    async fn metadata(
        &self,
        place: &str,
        issuer: Option<&str>,
        server: &Url,
    ) -> Result<Option<ServerMetadata>, AuthError> {
        let answer = self.get(place, FlowPurpose::Server).await?;
        let Some(body) = object(&answer).filter(|_| answer.status == 200) else {
            return Ok(None);
        };
        let found = text(&body, "issuer").unwrap_or_default();
        if let Some(expected) = issuer.filter(|issuer| !is_same_issuer(&found, issuer)) {
            return Err(AuthError::Issuer {
                url: place.to_owned(),
                expected: expected.to_owned(),
                found: harmless(&found),
            });
        }
        ServerMetadata::read(&body, place, server).map(Some)
    }

    /// Adds the PKCE methods of another document of the same issuer, if one lists S256.
    async fn add_pkce(&self, metadata: &mut ServerMetadata, server: &Url) {
        let Ok(url) = check("the issuer", &metadata.issuer, server) else {
            return;
        };
        // The document that was read is the first that there is.
        for place in issuer_places(&url).into_iter().skip(1) {
            let found = self.metadata(&place, Some(&metadata.issuer), server).await;
            if let Ok(Some(other)) = found
                && other.lists_s256()
            {
                metadata.pkce_methods = other.pkce_methods;
                return;
            }
        }
    }

    /// Returns the authorization server of an MCP server of 2025-03-26: its own origin.
    async fn own_server(&self, server: &Url) -> Result<ServerMetadata, AuthError> {
        let own = origin(server);
        check("the MCP server", &own, server)?;
        let place = format!("{own}/.well-known/oauth-authorization-server");
        let metadata = self.metadata(&place, Some(&own), server).await?;
        Ok(metadata.unwrap_or_else(|| ServerMetadata::assumed(&own)))
    }
}
