//! URLs of a server: resolves references, and hides the parts that may be secrets.

use ::http::Uri;
use ::http::uri::PathAndQuery;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Returns the URL that a reference leads to from another one, unless it is of another origin.
pub(super) fn place(from: &Uri, reference: &str) -> Option<Uri> {
    let target = reference.split('#').next().unwrap_or_default();
    let before_path = target.split(['/', '?']).next().unwrap_or_default();
    let whole = match target.strip_prefix("//") {
        Some(rest) => Some(format!("{}://{rest}", from.scheme_str()?)),
        None => before_path.contains(':').then(|| target.to_owned()),
    };
    let path = match whole {
        Some(whole) => {
            let to: Uri = whole.parse().ok()?;
            if origin(&to)? != origin(from)? {
                return None;
            }
            to.path_and_query()?.clone()
        }
        None if target.starts_with('/') => target.parse().ok()?,
        None => {
            let path = from.path();
            let base = if before_path.is_empty() {
                // Only the query is another one.
                path
            } else {
                path.rsplit_once('/').map_or("", |(folder, _)| folder)
            };
            let slash = if before_path.is_empty() { "" } else { "/" };
            format!("{base}{slash}{target}").parse().ok()?
        }
    };
    let mut parts = from.clone().into_parts();
    parts.path_and_query = Some(without_dots(&path)?);
    Uri::from_parts(parts).ok()
}

/// Returns a path without the segments `.` and `..`, which lead to a folder.
fn without_dots(path: &PathAndQuery) -> Option<PathAndQuery> {
    let mut folders: Vec<&str> = Vec::new();
    let mut segments = path.path().trim_start_matches('/').split('/').peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    folders.pop();
                }
                folders.extend(is_last.then_some(""));
            }
            segment => folders.push(segment),
        }
    }
    let query = path
        .query()
        .map_or(String::new(), |query| format!("?{query}"));
    format!("/{}{query}", folders.join("/")).parse().ok()
}

/// Returns a URL without its user, its query and its fragment, which may be secrets.
#[doc(hidden)]
pub fn without_secrets(url: &str) -> String {
    let bare = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = bare.split_once("//") else {
        return bare.to_owned();
    };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}//{host}{path}")
}

/// Returns the path of the Unix socket that a URL names, and the path of HTTP behind it: `unix:/run/mcp.sock`,
/// `unix:///run/mcp.sock`, `unix:/run/mcp.sock:/mcp`. The path of HTTP is `/mcp` if there is none. Returns `None` for other URLs.
#[doc(hidden)]
#[must_use]
pub fn unix_socket(url: &str) -> Option<(&str, &str)> {
    let rest = url.strip_prefix("unix:")?;
    let paths = rest.strip_prefix("//").unwrap_or(rest);
    let (socket, path) = match paths.rfind(":/") {
        Some(at) => (paths.get(..at)?, paths.get(at + 1..)?),
        None => (paths, "/mcp"),
    };
    (!socket.is_empty()).then_some((socket, path))
}

/// Returns a URL without its user, and the header that says the same of a client: `Authorization: Basic`.
pub(super) fn without_user(url: Uri) -> Option<(Uri, Option<String>)> {
    let authority = url.authority()?.as_str();
    let Some((user, host)) = authority.rsplit_once('@') else {
        return Some((url, None));
    };
    let user = user
        .split_once(':')
        .map_or(format!("{user}:"), |_| user.to_owned());
    let decoded: Vec<u8> = percent_encoding::percent_decode_str(&user).collect();
    let basic = format!("Basic {}", STANDARD.encode(decoded));
    let mut parts = url.clone().into_parts();
    parts.authority = Some(host.parse().ok()?);
    Some((Uri::from_parts(parts).ok()?, Some(basic)))
}

/// Returns scheme, host and port of an HTTP URL.
fn origin(url: &Uri) -> Option<(&str, String, u16)> {
    let scheme = url.scheme_str()?;
    let port = match scheme {
        "http" => 80,
        "https" => 443,
        _ => return None,
    };
    let host = url.host()?.to_ascii_lowercase();
    Some((scheme, host, url.port_u16().unwrap_or(port)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

    use super::*;

    #[test]
    fn a_url_is_shown_without_secrets_and_its_user_is_a_header() {
        for (url, shown) in [
            (
                "http://me:secret@host:80/mcp?token=secret#a",
                "http://host:80/mcp",
            ),
            ("//me@host", "//host"),
            ("/login?token=secret", "/login"),
            ("http://me:secret@", "http://"),
        ] {
            assert_eq!(without_secrets(url), shown);
        }
        for (url, bare, basic) in [
            ("http://host/mcp?a=1", "http://host/mcp?a=1", None),
            (
                "http://me:s%40t@host:81/mcp",
                "http://host:81/mcp",
                Some("Basic bWU6c0B0"),
            ),
            ("http://me@host/", "http://host/", Some("Basic bWU6")),
        ] {
            let found = without_user(url.parse().unwrap()).unwrap();
            assert_eq!(found, (bare.parse().unwrap(), basic.map(str::to_owned)));
        }
    }

    #[test]
    fn a_unix_socket_has_a_path_of_its_own_and_one_of_http() {
        for (url, expected) in [
            ("unix:/run/mcp.sock", Some(("/run/mcp.sock", "/mcp"))),
            ("unix:///run/mcp.sock", Some(("/run/mcp.sock", "/mcp"))),
            (
                "unix:./a:b.sock:/api/mcp?a=1",
                Some(("./a:b.sock", "/api/mcp?a=1")),
            ),
            ("unix:", None),
            ("unix::/mcp", None),
            ("http://host/unix:/a", None),
        ] {
            assert_eq!(unix_socket(url), expected, "{url}");
        }
    }

    #[test]
    fn a_reference_leads_to_a_place_of_the_same_origin_or_nowhere() {
        let from: Uri = "http://host/api/sse?key=1".parse().unwrap();
        for (reference, to) in [
            ("/messages?id=1", "http://host/messages?id=1"),
            ("messages/?id=1", "http://host/api/messages/?id=1"),
            ("sse?id=1#top", "http://host/api/sse?id=1"),
            ("?id=1", "http://host/api/sse?id=1"),
            ("HTTP://HOST:80/messages", "http://host/messages"),
            ("http://me@host/messages", "http://host/messages"),
            ("//host/messages", "http://host/messages"),
            ("./messages", "http://host/api/messages"),
            ("../messages?id=1", "http://host/messages?id=1"),
            ("/api/../../messages/.", "http://host/messages/"),
        ] {
            assert_eq!(
                place(&from, reference),
                Some(to.parse().unwrap()),
                "{reference}"
            );
        }
        for reference in [
            "http://other/messages",
            "http://host.other/messages",
            "http://host:81/messages",
            "http://host@other/messages",
            "https://host/messages",
            "https://host:80/messages",
            "//other/messages",
            "///other",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "other:80",
            "/a b",
        ] {
            assert_eq!(place(&from, reference), None, "{reference}");
        }
    }
}
