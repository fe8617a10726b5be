//! Finds the endpoint of a server by its origin: reads its catalog and its cards before the first message.

use std::time::Duration;

use ::http::Uri;
use mcp_revisions_core::discovery::{CARD_TYPE, CATALOG_PATH, CATALOG_TYPE, is_card_name};
use mcp_revisions_core::extensions::server_card::{RemoteType, ServerCard};
use mcp_revisions_core::{Revision, RevisionSet};
use mcp_wire::{Json, excerpt};

use super::options::Http;
use super::raw::{RawHttp, RawResponse};
use super::url::without_secrets;

/// Maximum number of bytes of a document.
const BYTES: usize = 256 << 10;
/// Maximum time for all documents.
const TIME: Duration = Duration::from_secs(10);
/// Maximum number of redirects of a document, within its origin.
const REDIRECTS: usize = 3;
/// Maximum number of cards that are read.
const CARDS: usize = 16;
/// Maximum number of characters of a text of the server in a note.
const SHOWN: usize = 120;

/// The endpoint of a server, as [`Http::find`] found it.
#[derive(Debug)]
#[non_exhaustive]
pub struct FoundEndpoint {
    /// The server at the endpoint that its card names, or at the URL that was given.
    pub http: Http,
    /// The card, as text; `None` if the URL that was given is used.
    pub card: Option<Json>,
    /// Sentences for the log: which catalog, card or endpoint was not used, and why.
    pub notes: Vec<String>,
}

/// The reason why a document is not used.
enum Unused {
    /// It did not arrive.
    Unread(String),
    /// The server's mistake in it.
    Mistake(String),
}

impl From<String> for Unused {
    fn from(why: String) -> Self {
        Self::Mistake(why)
    }
}

/// An endpoint of a card.
struct CardEndpoint {
    url: Uri,
    /// The text of the card.
    card: Json,
    versions: Vec<String>,
}

impl Http {
    /// Finds the endpoint of a server of which only the origin is given, such as `https://example.com`, by the catalog at its
    /// `/.well-known/ai-catalog.json` and the [server cards](https://github.com/modelcontextprotocol/experimental-ext-server-card)
    /// that this names. A URL with a path or a query is an endpoint, and nothing is requested for it.
    ///
    /// The protocol versions of the card decide only the first message to the server: its answer overrides the card. A document, a
    /// card or an endpoint of another origin is not used, nor one that is not valid, is longer than 256 KiB, or does not arrive
    /// within 10 seconds; [`FoundEndpoint::notes`] say why. Requests for documents have the headers of
    /// [`with_header`](Self::with_header), and never start a sign-in.
    /// Cancel safe.
    ///
    /// # Errors
    /// Returns the reason, for people, if the origin names several endpoints: their URLs are in it.
    pub async fn find(self) -> Result<FoundEndpoint, String> {
        let mut notes = Vec::new();
        let is_origin = self.url.path() == "/" && self.url.query().is_none();
        let mut found = Vec::new();
        if is_origin && self.service.is_none() && self.socket.is_none() {
            let bare = Self {
                authorize: None,
                ..self.clone()
            };
            let mut documents = Documents {
                raw: RawHttp::new(bare, BYTES),
                notes: &mut notes,
            };
            let looked = tokio::time::timeout(TIME, documents.endpoints(&self.url)).await;
            match looked {
                Ok(endpoints) => found = endpoints,
                Err(_) => notes.push(format!(
                    "the catalog and the cards of the server did not arrive within {TIME:?}"
                )),
            }
        }
        let mut urls: Vec<String> = found.iter().map(|it| it.url.to_string()).collect();
        urls.sort();
        urls.dedup();
        if urls.len() > 1 {
            let origin = without_secrets(&self.url.to_string());
            return Err(format!(
                "the catalog of {origin} names {} servers: give the URL of one of them: {}",
                urls.len(),
                urls.join(", ")
            ));
        }
        let Some(CardEndpoint {
            url,
            card,
            versions,
        }) = found.into_iter().next()
        else {
            return Ok(FoundEndpoint {
                http: self,
                card: None,
                notes,
            });
        };
        let known = versions
            .iter()
            .filter_map(|it| Revision::from_protocol_version(it));
        let likely: RevisionSet = known.collect();
        if likely.is_empty() && !versions.is_empty() {
            let named = excerpt(&versions.join(", "), SHOWN);
            notes.push(format!(
                "the server card of {url} names no protocol version that is known here ({named}): the server is asked all the same"
            ));
        }
        Ok(FoundEndpoint {
            http: Self { url, ..self }.with_likely_revisions(likely),
            card: Some(card),
            notes,
        })
    }

    /// Sets the revisions that the server probably speaks, such as those of its card [default: none are known]. They decide the
    /// first message to it, and nothing else.
    pub fn with_likely_revisions(mut self, likely: RevisionSet) -> Self {
        self.likely = likely;
        self
    }

    /// Returns the [likely revisions](Self::with_likely_revisions).
    pub fn likely_revisions(&self) -> RevisionSet {
        self.likely
    }
}

/// The documents of one origin, and what is wrong with them.
struct Documents<'n> {
    raw: RawHttp,
    notes: &'n mut Vec<String>,
}

impl Documents<'_> {
    /// Returns the endpoints of the cards of an origin.
    async fn endpoints(&mut self, origin: &Uri) -> Vec<CardEndpoint> {
        let mut found: Vec<CardEndpoint> = Vec::new();
        let Some(url) = self.raw.place(CATALOG_PATH) else {
            return found;
        };
        let catalog = match self.read(&url, CATALOG_TYPE).await {
            Ok(Some(catalog)) => catalog,
            Ok(None) => return found,
            Err(why) => {
                self.note("catalog", why);
                return found;
            }
        };
        let entries = catalog.read_member::<Vec<Json>>("entries");
        let Some(entries) = entries else {
            let why = "`entries` is not a list".to_owned();
            self.note("catalog", why.into());
            return found;
        };
        let of_card = |entry: &Json| {
            let kind = entry.read_member::<String>("type").unwrap_or_default();
            is_type(&kind, CARD_TYPE)
        };
        let (mut cards, mut more) = (0, 0);
        for entry in entries.iter().filter(|entry| of_card(entry)) {
            cards += 1;
            if cards > CARDS {
                more += 1;
                continue;
            }
            match self.endpoint(entry, origin).await {
                Ok(endpoint) => found.push(endpoint),
                Err(why) => {
                    let named = entry.read_member::<String>("identifier");
                    let named = excerpt(&named.unwrap_or_default(), SHOWN);
                    self.note(&format!("card `{named}`"), why);
                }
            }
        }
        if more > 0 {
            let note = format!(
                "the catalog of the server has {more} more cards than the {CARDS} that are read"
            );
            self.notes.push(note);
        }
        found
    }

    /// Returns the endpoint of the card of an entry.
    ///
    /// # Errors
    /// Returns the reason why the card is not used.
    async fn endpoint(&self, entry: &Json, origin: &Uri) -> Result<CardEndpoint, Unused> {
        let card = match (entry.read_member::<String>("url"), entry.get("data")) {
            (Some(url), None) => {
                let foreign = || format!("it is at {}, of another origin", excerpt(&url, SHOWN));
                let place = self.raw.place(&url).ok_or_else(foreign)?;
                let document = self.read(&place, CARD_TYPE).await?;
                document.ok_or_else(|| "there is none at its URL".to_owned())?
            }
            (None, Some(card)) => card,
            _ => {
                return Err("its entry needs either `url` or `data`".to_owned().into());
            }
        };
        Ok(endpoint_of(card, |url| self.raw.place(url), origin)?)
    }

    /// Reads a document; `None` if there is none.
    ///
    /// # Errors
    /// Returns the reason why it cannot be used.
    async fn read(&self, url: &str, kind: &str) -> Result<Option<Json>, Unused> {
        let accept = [("Accept".to_owned(), format!("{kind}, application/json"))];
        let mut place = url.to_owned();
        for _ in 0..=REDIRECTS {
            let sent = self.raw.send("GET", &place, &accept, String::new());
            let mut response: RawResponse = sent.await.map_err(Unused::Unread)?;
            match response.status {
                200 => {}
                300..400 => {
                    let to = response.header("location").unwrap_or_default();
                    let foreign =
                        || format!("it leads to {}, of another origin", excerpt(to, SHOWN));
                    place = self.raw.place(to).ok_or_else(foreign)?;
                    continue;
                }
                // The server does not publish the document.
                400..500 => return Ok(None),
                status => return Err(Unused::Unread(format!("HTTP status {status}"))),
            }
            let named = response.header("content-type").unwrap_or_default();
            // A site may have a page for each path that it does not have.
            if !is_type(named, kind) && !is_type(named, "application/json") {
                return Ok(None);
            }
            let body = response.next().await.unwrap_or_default();
            let text = String::from_utf8(body).map_err(|_| "it is not UTF-8".to_owned())?;
            return Json::from_text(&text)
                .map(Some)
                .map_err(|why| excerpt(&format!("it is not JSON: {why}"), SHOWN).into());
        }
        Err(format!("it leads on more than {REDIRECTS} times").into())
    }

    fn note(&mut self, what: &str, why: Unused) {
        self.notes.push(match why {
            Unused::Unread(why) => format!("the {what} of the server cannot be read: {why}"),
            Unused::Mistake(why) => {
                format!("a mistake of the server: its {what} is not used: {why}")
            }
        });
    }
}

/// Returns the endpoint that a card names; `place` says where a URL leads to within the origin.
///
/// # Errors
/// Returns the reason why the card is not used.
fn endpoint_of(
    card: Json,
    place: impl Fn(&str) -> Option<String>,
    origin: &Uri,
) -> Result<CardEndpoint, String> {
    let read = (card.read::<ServerCard>()).map_err(|why| excerpt(&why.to_string(), SHOWN))?;
    if !is_card_name(&read.name) {
        let name = excerpt(&read.name, SHOWN);
        return Err(format!(
            "`name` is \"{name}\": expected a form like com.example/weather"
        ));
    }
    let mut remotes = read.remotes.unwrap_or_default();
    remotes.sort_by_key(|remote| remote.type_ != RemoteType::StreamableHttp);
    let mut why = "it names no endpoint".to_owned();
    for remote in remotes {
        let shown = excerpt(&remote.url, SHOWN);
        if remote.url.contains('{') {
            why = format!("the URL {shown} has variables: give the URL of the endpoint");
            continue;
        }
        let is_whole = remote.url.contains("://");
        let url = place(&remote.url).filter(|_| is_whole);
        match url.and_then(|url| url.parse().ok()) {
            Some(url) => {
                return Ok(CardEndpoint {
                    url,
                    versions: remote.supported_protocol_versions.unwrap_or_default(),
                    card,
                });
            }
            None => {
                let origin = without_secrets(&origin.to_string());
                why = format!("its endpoint {shown} is not one of {origin}");
            }
        }
    }
    Err(why)
}

/// Returns whether a media type is this one.
fn is_type(named: &str, kind: &str) -> bool {
    let bare = named.split(';').next().unwrap_or_default().trim();
    bare.eq_ignore_ascii_case(kind)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

    use super::super::url;
    use super::*;

    fn read(card: &str) -> Result<CardEndpoint, String> {
        let origin = Uri::from_static("https://example.com/");
        let place = |to: &str| Some(url::place(&origin, to)?.to_string());
        endpoint_of(Json::from_text(card).unwrap(), place, &origin)
    }

    fn card(name: &str, remotes: &str) -> String {
        let schema = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json";
        format!(
            r#"{{"$schema":"{schema}","name":"{name}","version":"1","description":"d","remotes":{remotes}}}"#
        )
    }

    #[test]
    fn a_card_leads_to_an_endpoint_of_its_origin_or_says_why_not() {
        let good = card(
            "com.example/a",
            r#"[{"type":"sse","url":"https://example.com/sse"},
                {"type":"streamable-http","url":"https://example.com/mcp","supportedProtocolVersions":["1999-01-01"]}]"#,
        );
        let endpoint = read(&good).unwrap();
        assert_eq!(endpoint.url, "https://example.com/mcp");
        assert_eq!(endpoint.versions, ["1999-01-01"]);
        let remote = |url: &str| {
            let one = format!(r#"[{{"type":"streamable-http","url":"{url}"}}]"#);
            card("com.example/a", &one)
        };
        for (wrong, says) in [
            (
                remote("https://evil.example/mcp"),
                "is not one of https://example.com/",
            ),
            (
                remote("http://example.com/mcp"),
                "is not one of https://example.com/",
            ),
            (remote("https://example.com@evil.example/"), "is not one of"),
            (remote("/mcp"), "is not one of"),
            (remote("https://{tenant}.example.com/mcp"), "has variables"),
            (card("com.example/a", "[]"), "it names no endpoint"),
            (card("a\\u001b[2J/b", "[]"), "`name` is \"a\\u{1b}[2J/b\""),
            (card("weather", "[]"), "expected a form like"),
            (good.replace("schemas/v1", "schemas/v2"), "/$schema"),
            (good.replace("\"name\"", "\"nom\""), "name"),
            (good.replace("\"sse\"", "\"pigeon\""), "/remotes/0/type"),
        ] {
            let why = read(&wrong).err().unwrap();
            assert!(why.contains(says), "{why}\n  of {wrong}");
            assert!(!why.contains('\u{1b}'), "{why}");
        }
    }
}
