//! The server card of a service and the catalog that names it: documents for clients that are not connected yet.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ALLOW, CACHE_CONTROL, ETAG, HeaderValue, IF_NONE_MATCH,
};
use http::request::Parts;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use mcp_revisions_core::discovery::{
    CARD_NAME_BYTES, CARD_PATH, CARD_TYPE, CATALOG_PATH, CATALOG_TYPE, is_card_name,
};
use mcp_revisions_core::extensions::server_card::{Remote, RemoteType, ServerCard};
use mcp_revisions_core::{Lifecycle, Revision, RevisionSet, methods};
use mcp_wire::args::Description;
use mcp_wire::{Json, JsonObject, Map, meta};
use tokio::time::Instant;

use super::answers::{refused, refused_for, response, status};
use super::guard::resource::{InvalidResource, parts};
use super::inner::{ServiceShared, owner};
use super::{Body, Options};

/// Maximum number of characters of a title and a description, and of a version.
const SHORT: usize = 100;
const VERSION: usize = 255;

/// Maximum time until a server has introduced itself, its start included.
const WAIT: Duration = Duration::from_secs(60);
/// Time that a card is cached.
const FRESH: Duration = Duration::from_secs(60);
/// Pause after a server that did not introduce itself.
const AGAIN: Duration = Duration::from_secs(5);

/// The URL by which clients reach an endpoint with a card.
#[derive(Clone, Debug)]
pub(super) struct PublicUrl {
    url: String,
    host: String,
    path: String,
}

impl PublicUrl {
    fn new(url: String) -> Result<Self, InvalidResource> {
        let parsed = parts("the server card", &url)?;
        Ok(Self {
            host: parsed.host().unwrap_or_default().to_ascii_lowercase(),
            path: parsed.path().trim_end_matches('/').to_owned(),
            url,
        })
    }

    /// Returns the URL of an endpoint below this one.
    fn below(&self, path: &str) -> Self {
        Self {
            url: format!("{}{path}", self.url.trim_end_matches('/')),
            host: self.host.clone(),
            path: format!("{}{path}", self.path),
        }
    }

    /// Returns whether a request is for the card, also where a proxy has removed the beginning of its path.
    fn is_of_card(&self, path: &str) -> bool {
        path.ends_with(CARD_PATH) && format!("{}{CARD_PATH}", self.path).ends_with(path)
    }

    /// Returns the entry of a catalog for a server of this name.
    fn entry(&self, name: &str) -> Json {
        let host = self.host.trim_matches(['[', ']']).replace(':', "-");
        let own = name.rsplit('/').next().unwrap_or_default();
        Json::of(&Map::from_iter([
            ("identifier", format!("urn:air:{host}:mcp:{own}")),
            ("type", CARD_TYPE.to_owned()),
            (
                "url",
                format!("{}{CARD_PATH}", self.url.trim_end_matches('/')),
            ),
        ]))
    }

    /// Returns the name of a card: that of the server, if it has the form, else behind the host in the order of DNS from the root.
    fn qualified(&self, name: &str) -> String {
        if is_card_name(name) {
            return name.to_owned();
        }
        let host = self.host.trim_matches(['[', ']']);
        let space = if host.parse::<IpAddr>().is_ok() {
            host.replace(':', "-")
        } else {
            host.rsplit('.').collect::<Vec<_>>().join(".")
        };
        let letter = |it: char| match it {
            '.' | '_' | '-' => it,
            it if it.is_ascii_alphanumeric() => it,
            _ => '-',
        };
        let own: String = name.chars().map(letter).collect();
        let whole = format!("{space}/{own}");
        short(&whole, CARD_NAME_BYTES).to_owned()
    }

    /// Returns the card of a server with this `Implementation`, which serves these revisions.
    fn card(&self, info: &Json, served: RevisionSet) -> Option<ServerCard> {
        let text = |member: &str| info.read_member::<String>(member);
        let filled = |member: &str| text(member).filter(|it| !it.trim().is_empty());
        let name = filled("name")?;
        let title = filled("title").unwrap_or_else(|| name.clone());
        let description = filled("description").unwrap_or_else(|| title.clone());
        let mut versions: Vec<String> = Vec::new();
        for version in served.protocol_versions() {
            if !versions.iter().any(|it| it == version) {
                versions.push(version.to_owned());
            }
        }
        let remote = Remote::new(self.url.as_str(), RemoteType::StreamableHttp)
            .with_supported_protocol_versions(versions);
        let mut card = ServerCard::new(
            self.qualified(&name),
            Description(short(&description, SHORT)),
            short(&text("version").unwrap_or_default(), VERSION),
        )
        .with_title(short(&title, SHORT))
        .with_remotes(vec![remote]);
        card.icons = info.read_member("icons");
        card.website_url = text("websiteUrl");
        Some(card)
    }
}

/// Returns the first characters of a text.
fn short(text: &str, most: usize) -> &str {
    let end = text.char_indices().nth(most).map(|(end, _)| end);
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

/// The card of a service, once its server has introduced itself, and the time until which it is used.
#[derive(Debug, Default)]
pub(super) struct CachedCard(tokio::sync::Mutex<Option<(Instant, Option<Arc<ServerCard>>)>>);

impl Options {
    /// Publishes a [server card](https://github.com/modelcontextprotocol/experimental-ext-server-card) for clients that reach the
    /// service at this URL, such as `https://mcp.example.com/mcp`: name, title, description, version, icons and page of the server,
    /// and the protocol versions that it serves. None is published by default.
    ///
    /// It is at `/server-card` below the path of the URL, in a catalog at `/.well-known/ai-catalog.json`: route both to the service.
    /// **Everybody may read both**, from any page and without a token, also behind a [guard](Self::with_guard).
    ///
    /// # Errors
    /// Returns an error if the URL is neither `https`, nor `http` on a loopback host, or has a user, a query or a fragment.
    pub fn with_server_card(mut self, url: impl Into<String>) -> Result<Self, InvalidResource> {
        self.card = Some(PublicUrl::new(url.into())?);
        Ok(self)
    }

    /// Returns whether cards are published.
    #[doc(hidden)]
    #[must_use]
    pub fn publishes_card(&self) -> bool {
        self.card.is_some()
    }

    /// Publishes the card for an endpoint at a path below the URL, if one is published.
    #[doc(hidden)]
    pub fn with_server_card_below(mut self, path: &str) -> Self {
        self.card = self.card.map(|card| card.below(path));
        self
    }

    /// Returns the catalog of several servers below the URL, each by its name and its path, if the request is for it.
    #[doc(hidden)]
    #[must_use]
    pub fn server_catalog(
        &self,
        head: &Parts,
        servers: impl Iterator<Item = (String, String)>,
    ) -> Option<Response<Body>> {
        let card = self.card.as_ref()?;
        (head.uri.path() == CATALOG_PATH).then(|| {
            let entries = servers.map(|(name, path)| card.below(&path).entry(&name));
            catalog(head, entries.collect())
        })
    }
}

impl ServiceShared {
    /// Returns the card or the catalog that a request is for, if the service publishes them.
    pub(super) async fn card_document(&self, head: &Parts) -> Option<Response<Body>> {
        let place = self.options.card.as_ref()?;
        let path = head.uri.path();
        let is_catalog = path == CATALOG_PATH;
        if !is_catalog && !place.is_of_card(path) {
            return None;
        }
        Some(match self.card(place).await {
            Some(card) if is_catalog => catalog(head, vec![place.entry(&card.name)]),
            Some(card) => document(head, CARD_TYPE, &Json::of(&*card)),
            None => {
                let why =
                    "the server does not say what it is now, or has no name: there is no card";
                public(refused_for(AGAIN.as_secs(), why))
            }
        })
    }

    /// Returns the card, from the server's introduction to an anonymous client.
    async fn card(&self, place: &PublicUrl) -> Option<Arc<ServerCard>> {
        // Other requests for the card wait for the same answer.
        let mut cached = self.card.0.lock().await;
        if let Some((until, card)) = &*cached
            && Instant::now() < *until
        {
            return card.clone();
        }
        let info = tokio::time::timeout(WAIT, self.own_info()).await;
        let described = info.ok().flatten();
        let card = described
            .and_then(|info| place.card(&info, self.server.served()))
            .map(Arc::new);
        let time = if card.is_some() { FRESH } else { AGAIN };
        *cached = Some((Instant::now() + time, card.clone()));
        card
    }

    /// Returns the `Implementation` of the server, as it says it in the latest revision that is served.
    async fn own_info(&self) -> Option<Json> {
        let served = self.server.served();
        let lifecycle = if served.has(Lifecycle::PerRequest) {
            Lifecycle::PerRequest
        } else {
            Lifecycle::Handshake
        };
        let revision: Revision = served.latest(lifecycle)?;
        let client = Json::of(&Map::from_iter([
            ("name", "mcp-server-card"),
            ("version", env!("CARGO_PKG_VERSION")),
        ]));
        let (version, nothing) = (
            Json::of(revision.protocol_version()),
            JsonObject::new().into(),
        );
        let (method, params) = match lifecycle {
            Lifecycle::PerRequest => {
                let stamp = Map::from_iter([
                    (meta::PROTOCOL_VERSION, version),
                    (meta::CLIENT_CAPABILITIES, nothing),
                    (meta::CLIENT_INFO, client),
                ]);
                let params = Map::from_iter([("_meta", Json::of(&stamp))]);
                (methods::SERVER_DISCOVER, params)
            }
            Lifecycle::Handshake => {
                let params = Map::from_iter([
                    ("protocolVersion", version),
                    ("capabilities", nothing),
                    ("clientInfo", client),
                ]);
                (methods::INITIALIZE, params)
            }
        };
        // Others get the same card, so that nothing of the request for it may reach the server.
        let (blank, ()) = Request::new(()).into_parts();
        let who = owner(&blank);
        let result = self
            .own_request(revision, method, &params, &Arc::new(blank), &who)
            .await?;
        let stamped = || result.get("_meta")?.get(meta::SERVER_INFO);
        result.get("serverInfo").or_else(stamped)
    }
}

/// Returns the catalog with these entries.
fn catalog(head: &Parts, entries: Vec<Json>) -> Response<Body> {
    let members = [
        ("specVersion", Json::of("1.0")),
        ("entries", Json::of(&entries)),
    ];
    document(head, CATALOG_TYPE, &Json::of(&Map::from_iter(members)))
}

/// Returns a document that everybody may read and keep, or status 304 for a client that has it.
fn document(head: &Parts, kind: &'static str, document: &Json) -> Response<Body> {
    let digest = hmac_sha256::Hash::hash(document.text().as_bytes());
    let hex: String = (digest.iter().take(16))
        .map(|it| format!("{it:02x}"))
        .collect();
    let tag = format!("\"{hex}\"");
    let mut response = match head.method {
        Method::GET | Method::HEAD if is_known(&head.headers, &tag) => {
            status(StatusCode::NOT_MODIFIED)
        }
        Method::GET | Method::HEAD => response(StatusCode::OK, kind, Body::text(document.text())),
        Method::OPTIONS => return public(status(StatusCode::NO_CONTENT)),
        _ => {
            let mut refused = refused(StatusCode::METHOD_NOT_ALLOWED, "read it by GET");
            let headers = refused.headers_mut();
            headers.insert(ALLOW, HeaderValue::from_static("GET, HEAD, OPTIONS"));
            return public(refused);
        }
    };
    let headers = response.headers_mut();
    let an_hour = HeaderValue::from_static("public, max-age=3600");
    headers.insert(CACHE_CONTROL, an_hour);
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(ETAG, tag);
    }
    public(response)
}

/// Returns whether a client has the document with this tag.
fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    let values = headers.get_all(IF_NONE_MATCH).iter();
    let mut known = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim);
    known.any(|one| one == "*" || one.strip_prefix("W/").unwrap_or(one) == tag)
}

/// Returns a response that pages of every origin may read.
fn public(mut response: Response<Body>) -> Response<Body> {
    for (name, value) in [
        (ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (ACCESS_CONTROL_ALLOW_METHODS, "GET"),
        (ACCESS_CONTROL_ALLOW_HEADERS, "Content-Type, If-None-Match"),
        (ACCESS_CONTROL_EXPOSE_HEADERS, "ETag"),
    ] {
        let headers = response.headers_mut();
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

    use super::*;

    fn at(url: &str) -> PublicUrl {
        PublicUrl::new(url.to_owned()).unwrap()
    }

    #[test]
    fn a_card_has_the_name_of_its_server_behind_that_of_its_host() {
        for (url, name, qualified, identifier) in [
            (
                "https://mcp.example.com/mcp",
                "weather",
                "com.example.mcp/weather",
                "urn:air:mcp.example.com:mcp:weather",
            ),
            (
                "https://example.com",
                "org.other/own_1",
                "org.other/own_1",
                "urn:air:example.com:mcp:own_1",
            ),
            (
                "http://127.0.0.1:80/mcp",
                "a b/c\u{1b}[2J/é",
                "127.0.0.1/a-b-c--2J--",
                "urn:air:127.0.0.1:mcp:a-b-c--2J--",
            ),
            ("http://[::1]:80/mcp", "a", "--1/a", "urn:air:--1:mcp:a"),
        ] {
            let place = at(url);
            assert_eq!(place.qualified(name), qualified);
            let entry = place.entry(qualified);
            let said: Option<String> = entry.read_member("identifier");
            assert_eq!(said.as_deref(), Some(identifier));
        }
        let long = at("https://example.com").qualified(&"n".repeat(500));
        assert_eq!(long.len(), CARD_NAME_BYTES);
    }

    #[test]
    fn a_card_is_at_its_endpoint_also_where_a_proxy_removes_the_beginning() {
        let place = at("https://example.com/tools/mcp");
        for path in ["/tools/mcp/server-card", "/mcp/server-card", "/server-card"] {
            assert!(place.is_of_card(path), "{path}");
        }
        for path in [
            "/tools/mcp",
            "card",
            "/x/server-card",
            "/tools/mcp/server-card/",
        ] {
            assert!(!place.is_of_card(path), "{path}");
        }
        assert!(at("https://example.com/").is_of_card("/server-card"));
    }

    #[test]
    fn what_a_server_says_of_itself_fits_into_its_card_or_there_is_none() {
        let place = at("https://example.com/mcp");
        let of = |text: &str| place.card(&Json::from_text(text).unwrap(), RevisionSet::all());
        let long = "ä".repeat(300);
        let card = of(&format!(
            r#"{{"name":"a","version":"{long}","description":"{long}","title":" "}}"#
        ))
        .unwrap();
        assert_eq!(card.description.chars().count(), SHORT);
        assert_eq!(card.version.chars().count(), VERSION);
        assert_eq!(card.title.as_deref(), Some("a"));
        let versions = card.remotes.unwrap().remove(0).supported_protocol_versions;
        let all = RevisionSet::all().protocol_versions();
        assert_eq!(versions.unwrap(), all);
        for nameless in [r#"{"version":"1"}"#, r#"{"name":"","version":"1"}"#, "{}"] {
            assert!(of(nameless).is_none(), "{nameless}");
        }
    }
}
