//! The URLs that a sign-in may use, and the places of documents.

use std::net::{IpAddr, Ipv4Addr};

use url::{Host, Url};

use crate::AuthError;

/// Returns whether a URL names this machine.
#[must_use]
pub fn is_loopback_url(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| is_loopback(&url))
}

pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Returns whether a sign-in may connect to an address. `is_local` is whether the MCP server is on this machine, and
/// `allows_private` whether private ranges are allowed. Addresses of the link, of cloud metadata, multicast and the
/// unspecified one are never allowed; an IPv4 address inside an IPv6 address counts as that IPv4 address.
#[must_use]
pub fn is_allowed_address(address: IpAddr, is_local: bool, allows_private: bool) -> bool {
    let v4 = match address {
        IpAddr::V4(v4) => v4,
        IpAddr::V6(v6) => {
            let parts = v6.segments();
            let [.., high, low] = parts;
            let inside = |high: u16, low: u16| {
                let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
                Ipv4Addr::new(a, b, c, d)
            };
            if v6.is_loopback() {
                return is_local;
            } else if let Some(mapped) = v6.to_ipv4_mapped() {
                mapped
            } else if parts.starts_with(&[0x64, 0xff9b]) || parts.starts_with(&[0, 0, 0, 0, 0, 0]) {
                // NAT64, and the form that is not used any more; it has the unspecified address.
                inside(high, low)
            } else if parts.starts_with(&[0x2002]) {
                inside(parts[1], parts[2])
            } else if v6.is_multicast() || (parts[0] & 0xffc0) == 0xfe80 {
                return false;
            } else if (parts[0] & 0xfe00) == 0xfc00 {
                return allows_private && parts[0] != 0xfd00;
            } else {
                return true;
            }
        }
    };
    let [first, second, ..] = v4.octets();
    if v4.is_loopback() {
        return is_local;
    }
    if first == 0 || first >= 224 || v4.is_link_local() {
        return false;
    }
    // Addresses between carriers, of protocols, and of benchmarks.
    let is_inside = matches!((first, second), (100, 64..128) | (198, 18..20))
        || v4.octets().starts_with(&[192, 0, 0]);
    allows_private || !(v4.is_private() || is_inside)
}

/// Checks a URL that a server names: https, or http on this machine if the MCP server is there as well; no user, no fragment.
pub(crate) fn check(whose: &str, text: &str, server: &Url) -> Result<Url, AuthError> {
    let wrong = |why| AuthError::Address {
        whose: whose.to_owned(),
        url: crate::error::harmless(text),
        why,
    };
    let url = Url::parse(text).map_err(|_| wrong("it is not a valid URL"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("it has a user or a password"));
    }
    if url.fragment().is_some() {
        return Err(wrong("it has a fragment"));
    }
    match url.scheme() {
        "https" => {}
        "http" if is_loopback(&url) && is_loopback(server) => {}
        "http" => {
            return Err(wrong(
                "expected https://, or http:// where both are on this machine",
            ));
        }
        _ => return Err(wrong("expected https://")),
    }
    match url.host() {
        None => return Err(wrong("it has no host")),
        Some(Host::Domain(_)) if is_loopback(&url) && !is_loopback(server) => {
            return Err(wrong(
                "it names this machine, and the MCP server is on another one",
            ));
        }
        Some(Host::Domain(_)) => {}
        Some(Host::Ipv4(address)) if is_literal_allowed(address.into(), server) => {}
        Some(Host::Ipv6(address)) if is_literal_allowed(address.into(), server) => {}
        Some(_) => return Err(wrong("it names a private address")),
    }
    Ok(url)
}

fn is_literal_allowed(address: IpAddr, server: &Url) -> bool {
    // A server at a private address may name private ones; the connection is checked once more.
    let own = match server.host() {
        Some(Host::Ipv4(own)) => own.is_private(),
        Some(Host::Ipv6(own)) => (own.segments()[0] & 0xfe00) == 0xfc00,
        _ => false,
    };
    is_allowed_address(address, is_loopback(server), own)
}

/// Returns the URL without path, query and fragment, and without a final slash.
pub(crate) fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// Returns the places of the metadata of a protected resource: with the path, then without.
pub(crate) fn resource_places(server: &Url) -> Vec<String> {
    let known = format!("{}/.well-known/oauth-protected-resource", origin(server));
    let path = server.path().trim_end_matches('/');
    match path {
        "" => vec![known],
        path => vec![format!("{known}{path}"), known],
    }
}

/// Returns the places of the metadata of an authorization server.
pub(crate) fn issuer_places(issuer: &Url) -> Vec<String> {
    let origin = origin(issuer);
    match issuer.path().trim_end_matches('/') {
        "" => vec![
            format!("{origin}/.well-known/oauth-authorization-server"),
            format!("{origin}/.well-known/openid-configuration"),
        ],
        path => vec![
            format!("{origin}/.well-known/oauth-authorization-server{path}"),
            format!("{origin}/.well-known/openid-configuration{path}"),
            format!("{origin}{path}/.well-known/openid-configuration"),
        ],
    }
}

/// Returns whether a resource is the MCP server or a parent of it: the same origin, and the same path or a prefix that ends at
/// a slash. The query and one final slash are ignored.
pub(crate) fn is_resource_of(resource: &str, server: &Url) -> bool {
    let Ok(resource) = Url::parse(resource) else {
        return false;
    };
    let above = without_slash(resource.path());
    let path = without_slash(server.path());
    resource.origin() == server.origin()
        && resource.username().is_empty()
        && resource.fragment().is_none()
        && path
            .strip_prefix(above)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns a path without its last slash.
fn without_slash(path: &str) -> &str {
    path.strip_suffix('/').unwrap_or(path)
}

/// Returns whether two issuers are the same: byte by byte, but an issuer without path may have or lack its slash.
pub(crate) fn is_same_issuer(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let (one, other) = (
        one.strip_suffix('/').unwrap_or(one),
        other.strip_suffix('/').unwrap_or(other),
    );
    one == other && Url::parse(one).is_ok_and(|url| url.path() == "/" && url.query().is_none())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

    use super::*;

    #[test]
    fn a_sign_in_never_connects_to_addresses_of_the_link_or_of_metadata_of_clouds() {
        for (address, is_local, is_private, expected) in [
            ("8.8.8.8", false, false, true),
            ("127.0.0.1", false, true, false),
            ("127.0.0.1", true, false, true),
            ("169.254.169.254", true, true, false),
            ("10.0.0.1", false, false, false),
            ("10.0.0.1", false, true, true),
            ("0.0.0.0", true, true, false),
            ("224.0.0.1", true, true, false),
            ("100.64.0.1", false, false, false),
            ("192.0.0.8", false, false, false),
            ("198.19.0.1", false, false, false),
            ("198.20.0.1", false, false, true),
            ("::", true, true, false),
            ("::1", false, true, false),
            ("::ffff:10.0.0.1", false, false, false),
            ("64:ff9b::a9fe:a9fe", false, true, false),
            ("2002:a00:1::", false, false, false),
            ("fe80::1", true, true, false),
            ("fc00::1", false, false, false),
            ("2606:4700::1", false, false, true),
        ] {
            let is = is_allowed_address(address.parse().unwrap(), is_local, is_private);
            assert_eq!(is, expected, "{address}");
        }
    }

    #[test]
    fn a_resource_is_the_server_or_a_parent_of_it() {
        let server = Url::parse("https://a.example/x/mcp?y=1").unwrap();
        for (resource, expected) in [
            ("https://a.example/x/mcp", true),
            ("https://a.example/x/mcp/", true),
            ("https://a.example/x", true),
            ("https://a.example", true),
            ("https://a.example:443/", true),
            ("https://a.example/x/m", false),
            ("https://a.example/x/mcp/more", false),
            ("http://a.example/x/mcp", false),
            ("https://b.example/x/mcp", false),
            ("https://a.example:444/", false),
        ] {
            assert_eq!(is_resource_of(resource, &server), expected, "{resource}");
        }
    }

    #[test]
    fn urls_that_are_not_protected_or_lead_inside_are_refused() {
        let public = Url::parse("https://a.example/mcp").unwrap();
        let local = Url::parse("http://127.0.0.1:9/mcp").unwrap();
        for (url, from_public, from_local) in [
            ("https://b.example/x", true, true),
            ("http://b.example/x", false, false),
            ("http://localhost:5/x", false, true),
            ("https://localhost/x", false, true),
            ("https://0x7f.1/x", false, true),
            ("https://169.254.169.254/x", false, false),
            ("https://[::ffff:10.0.0.1]/x", false, false),
            ("https://u@b.example/x", false, false),
            ("https://b.example/x#y", false, false),
            ("file:///etc/passwd", false, false),
            ("javascript:alert(1)", false, false),
            ("nonsense", false, false),
        ] {
            assert_eq!(check("a test", url, &public).is_ok(), from_public, "{url}");
            assert_eq!(check("a test", url, &local).is_ok(), from_local, "{url}");
        }
    }
}
