//! What clients find a server by before they connect: the places, media types and names of server cards and of catalogs.

/// The path of a catalog, at the root of an origin.
pub const CATALOG_PATH: &str = "/.well-known/ai-catalog.json";
/// The media type of a catalog.
pub const CATALOG_TYPE: &str = "application/ai-catalog+json";
/// The path of a server card, below that of its endpoint.
pub const CARD_PATH: &str = "/server-card";
/// The media type of a server card.
pub const CARD_TYPE: &str = "application/mcp-server-card+json";
/// Maximum number of bytes of the name of a card.
pub const CARD_NAME_BYTES: usize = 200;

/// Returns whether a text has the form of the name of a card, such as `com.example/weather`.
#[must_use]
pub fn is_card_name(name: &str) -> bool {
    let is_of = |text: &str, marks: &[u8]| {
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || marks.contains(&byte);
        !text.is_empty() && text.bytes().all(is_letter)
    };
    let halves = name.split_once('/');
    let has_form = halves.is_some_and(|(space, own)| is_of(space, b".-") && is_of(own, b"._-"));
    has_form && name.len() <= CARD_NAME_BYTES
}
