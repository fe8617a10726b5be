//! The server as a protected resource: its metadata (RFC 9728), and where they are served.

use http::Uri;
use http::uri::Scheme;
use mcp_wire::{Encode, Json, Map};

use super::super::admission::is_loopback;

/// The path before that of the resource, at which its metadata are.
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// The scope by which a client asks for a refresh token: the authorization server grants it, and a resource never needs it.
const OFFLINE_ACCESS: &str = "offline_access";

/// A server as a protected resource: its URL, its authorization servers, its scopes
/// ([authorization](https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#protected-resource-metadata-discovery-requirements)).
#[derive(Debug, Clone)]
#[must_use]
pub struct ProtectedResource {
    url: String,
    path: String,
    metadata_url: String,
    issuers: Vec<String>,
    audiences: Vec<String>,
    /// Set if tokens need no audience.
    takes_no_audience: bool,
    scopes: Vec<String>,
    others: Vec<(String, Json)>,
}

/// A URL that a protected resource or an authorization server cannot have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid URL {url:?} of {whose}: expected https://, or http:// on a loopback host, without user, query and fragment"
)]
pub struct InvalidResource {
    whose: &'static str,
    url: String,
}

/// Returns the parts of a URL that is allowed.
pub(in super::super) fn parts(whose: &'static str, url: &str) -> Result<Uri, InvalidResource> {
    let invalid = || InvalidResource {
        whose,
        url: url.to_owned(),
    };
    let parsed: Uri = url.parse().map_err(|_| invalid())?;
    let authority = parsed.authority().map_or("", |it| it.as_str());
    let is_protected = match parsed.scheme() {
        Some(scheme) if *scheme == Scheme::HTTPS => true,
        Some(scheme) if *scheme == Scheme::HTTP => is_loopback(&format!("http://{authority}")),
        _ => false,
    };
    let has_more = url.contains(['#', '?', '@', '"', '\\']) || authority.is_empty();
    if is_protected && !has_more {
        Ok(parsed)
    } else {
        Err(invalid())
    }
}

impl ProtectedResource {
    /// Creates the resource of the URL that clients connect to, such as `https://mcp.example.com/mcp`, with the issuer of an
    /// authorization server, such as `https://auth.example.com`.
    ///
    /// # Errors
    /// Returns an error if one of the URLs is neither `https`, nor `http` on a loopback host, or has a user, a query or a
    /// fragment.
    pub fn new(url: impl Into<String>, issuer: impl Into<String>) -> Result<Self, InvalidResource> {
        let url = url.into();
        let parsed = parts("the resource", &url)?;
        let path = match parsed.path() {
            "/" => "",
            path => path,
        };
        let scheme = parsed.scheme_str().unwrap_or_default();
        let authority = parsed.authority().map_or("", |it| it.as_str());
        Self {
            path: path.to_owned(),
            metadata_url: format!("{scheme}://{authority}{WELL_KNOWN}{path}"),
            url,
            issuers: Vec::new(),
            audiences: Vec::new(),
            takes_no_audience: false,
            scopes: Vec::new(),
            others: Vec::new(),
        }
        .with_authorization_server(issuer)
    }

    /// Adds the issuer of one more authorization server, whose tokens are accepted, too.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_authorization_server(
        mut self,
        issuer: impl Into<String>,
    ) -> Result<Self, InvalidResource> {
        let named = issuer.into();
        parts("an authorization server", &named)?;
        self.issuers.push(named);
        Ok(self)
    }

    /// Accepts tokens of this audience, too [default: only the URL of the resource]: for authorization servers that know the
    /// resource by an identifier of their own, such as `api://1b2c3d`.
    pub fn with_audience(mut self, audience: impl Into<String>) -> Self {
        self.audiences.push(audience.into());
        self
    }

    /// Accepts tokens that name no audience, too: for authorization servers that issue tokens for this resource only. Those of another
    /// audience stay refused.
    pub fn without_audience(mut self) -> Self {
        self.takes_no_audience = true;
        self
    }

    /// Sets the scopes that the metadata list (`scopes_supported`) [default: none, and clients request those of challenges].
    /// `offline_access` is not listed: the specification keeps it out of these metadata.
    pub fn with_scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        let all = scopes.into_iter().map(Into::into);
        self.scopes = all.filter(|scope| scope != OFFLINE_ACCESS).collect();
        self
    }

    /// Adds another member of the metadata, such as `resource_name` or `resource_documentation`.
    pub fn with_metadata(
        mut self,
        name: impl Into<String>,
        value: &(impl Encode + ?Sized),
    ) -> Self {
        self.others.push((name.into(), Json::of(value)));
        self
    }

    /// Returns the path at which the metadata are served, such as `/.well-known/oauth-protected-resource/mcp`: route it to the
    /// service, besides the path of the resource.
    #[must_use]
    pub fn metadata_path(&self) -> String {
        format!("{WELL_KNOWN}{}", self.path)
    }

    /// Returns the URL of the metadata, as challenges name it.
    #[must_use]
    pub fn metadata_url(&self) -> &str {
        &self.metadata_url
    }

    /// Returns the URL of the resource.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns whether the metadata are served at a path: that of the resource, or the root of the origin.
    pub(super) fn serves_metadata(&self, path: &str) -> bool {
        let below = path.strip_prefix(WELL_KNOWN);
        below.is_some_and(|below| below.is_empty() || below == self.path)
    }

    /// Returns the document of the metadata.
    pub(super) fn metadata(&self) -> String {
        let mut members = Map::from_iter([
            ("resource", Json::of(&*self.url)),
            ("authorization_servers", Json::of(&self.issuers)),
            ("bearer_methods_supported", Json::of(&["header"][..])),
        ]);
        if !self.scopes.is_empty() {
            members.insert("scopes_supported", Json::of(&self.scopes));
        }
        for (name, value) in &self.others {
            members.insert(&**name, value.clone());
        }
        Json::of(&members).into_text()
    }

    /// Returns whether a token for one of these audiences is for this resource; one final slash makes no difference.
    pub(super) fn is_audience(&self, audiences: &[String]) -> bool {
        if audiences.is_empty() {
            return self.takes_no_audience;
        }
        let bare = |url: &String| url.strip_suffix('/').unwrap_or(url).to_owned();
        let mut own = std::iter::once(&self.url).chain(&self.audiences).map(bare);
        own.any(|own| audiences.iter().any(|audience| bare(audience) == own))
    }

    /// Returns the issuer of a token: the one that it names, if it is an authorization server of this resource, or the only one
    /// where a token names none.
    pub(super) fn issuer(&self, named: Option<&str>) -> Option<&str> {
        let bare = |url: &str| url.strip_suffix('/').unwrap_or(url).to_owned();
        let mut all = self.issuers.iter();
        match named {
            Some(named) => all.find(|one| bare(one) == bare(named)),
            None => all.next().filter(|_| self.issuers.len() == 1),
        }
        .map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

    use super::*;

    const ISSUER: &str = "https://auth.example";

    #[test]
    fn metadata_are_at_the_well_known_path_before_that_of_the_resource() {
        for (url, metadata) in [
            (
                "https://a.example",
                "https://a.example/.well-known/oauth-protected-resource",
            ),
            (
                "https://a.example/",
                "https://a.example/.well-known/oauth-protected-resource",
            ),
            (
                "https://a.example:8443/x/mcp",
                "https://a.example:8443/.well-known/oauth-protected-resource/x/mcp",
            ),
            (
                "http://localhost:1/mcp/",
                "http://localhost:1/.well-known/oauth-protected-resource/mcp/",
            ),
            // The path is also a part of the host.
            (
                "https://a/a",
                "https://a/.well-known/oauth-protected-resource/a",
            ),
        ] {
            let resource = ProtectedResource::new(url, ISSUER).unwrap();
            assert_eq!(resource.metadata_url(), metadata, "{url}");
            assert!(metadata.ends_with(&resource.metadata_path()));
            assert!(resource.serves_metadata(&resource.metadata_path()));
            assert!(resource.serves_metadata(WELL_KNOWN));
            assert!(!resource.serves_metadata("/.well-known/oauth-protected-resource/other"));
        }
    }

    #[test]
    fn urls_that_would_not_protect_a_token_are_refused() {
        for url in [
            "http://a.example/mcp",
            "ftp://a.example",
            "a.example",
            "/mcp",
            "",
            "https://a.example/mcp#x",
            "https://a.example/mcp?x=1",
            "https://u@a.example/mcp",
            "https://a.example/\"x",
        ] {
            assert!(ProtectedResource::new(url, ISSUER).is_err(), "{url}");
            let good = ProtectedResource::new("https://a.example/mcp", url);
            assert!(good.is_err(), "{url}");
        }
    }

    #[test]
    fn the_document_lists_authorization_servers_and_scopes() {
        let resource = ProtectedResource::new("https://a.example/mcp", ISSUER).unwrap();
        let resource = resource
            .with_scopes(["read", "offline_access"])
            .with_metadata("resource_name", "Notes");
        assert_eq!(
            resource.metadata(),
            r#"{"resource":"https://a.example/mcp","authorization_servers":["https://auth.example"],"bearer_methods_supported":["header"],"scopes_supported":["read"],"resource_name":"Notes"}"#
        );
    }
}
