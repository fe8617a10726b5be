//! Admission of requests: by their origin, the host that they name, and their path.

use ::http::HeaderMap;
use ::http::header::{HOST, ORIGIN};

use super::Options;

impl Options {
    /// Returns whether a request of this `Origin` is taken.
    fn allows(&self, origin: &str) -> bool {
        self.names(origin) || is_loopback(origin)
    }

    /// Returns whether this `Origin` was allowed by its name.
    fn names(&self, origin: &str) -> bool {
        let mut named = self.origins.iter();
        named.any(|allowed| allowed.eq_ignore_ascii_case(origin))
    }

    /// Returns the `Origin` of a request whose page may read the response.
    pub(super) fn reader(&self, headers: &HeaderMap) -> Option<::http::HeaderValue> {
        let origin = headers.get(ORIGIN).filter(|_| self.cors)?;
        let is_named = origin.to_str().is_ok_and(|origin| self.names(origin));
        is_named.then(|| origin.clone())
    }

    /// Returns whether a request is for the [health](Self::with_health) or the [readiness](Self::with_readiness).
    #[doc(hidden)]
    #[must_use]
    pub fn is_look(&self, uri: &::http::Uri) -> bool {
        let metrics = self.metrics.as_ref().map(|metrics| &*metrics.path);
        let looks = [self.health.as_deref(), self.readiness.as_deref(), metrics];
        looks.contains(&Some(uri.path()))
    }

    /// Returns whether messages are taken at this path.
    pub(super) fn serves_path(&self, path: &str) -> bool {
        let only = self.path.as_deref();
        only.is_none_or(|only| only == path) || self.serves_http_sse(path)
    }

    /// Returns whether this path is that of HTTP+SSE, or what a proxy has left of that.
    pub(super) fn serves_http_sse(&self, path: &str) -> bool {
        let served = self.http_sse.as_deref();
        served.is_some_and(|served| served.ends_with(path))
    }

    /// Checks whether the origin and the host that a request names are allowed. Returns the reason, for people, if they are
    /// not.
    #[doc(hidden)]
    pub fn admits(&self, head: &::http::request::Parts) -> Result<(), String> {
        for origin in head.headers.get_all(ORIGIN) {
            if !origin.to_str().is_ok_and(|origin| self.allows(origin)) {
                let origin = quoted(origin.as_bytes());
                return Err(format!(
                    "the origin `{origin}` is not allowed: if its pages may use this server, allow it with `allow_origin`, or `--allow-origin` of a bridge"
                ));
            }
        }
        let named = head
            .headers
            .get_all(HOST)
            .iter()
            .map(::http::HeaderValue::as_bytes);
        // HTTP/2 names the host in the address.
        let authority = head.uri.authority().map(|it| it.as_str().as_bytes());
        let serves = |host: &[u8]| std::str::from_utf8(host).is_ok_and(|host| self.serves(host));
        match named.chain(authority).find(|host| !serves(host)) {
            None => Ok(()),
            Some(host) => Err(format!(
                "the host `{}` is not served here: if it is a name of this server, allow it with `allow_host`, or `--allow-host` of a bridge",
                quoted(host)
            )),
        }
    }

    fn serves(&self, host: &str) -> bool {
        let Some(hosts) = &self.hosts else {
            return true;
        };
        // A port is a number: else what stands before it may be the name of a user.
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.parse::<u16>().is_ok() => name,
            _ => host,
        };
        let is_it = |one: &String| one.eq_ignore_ascii_case(host) || one.eq_ignore_ascii_case(name);
        is_loopback_host(host) || hosts.iter().any(is_it)
    }
}

/// Returns the text of a client, as an error quotes it.
fn quoted(text: &[u8]) -> String {
    mcp_revisions_core::errors::shortened(&text.escape_ascii().to_string())
}

/// Returns whether an origin is one of this machine.
pub(super) fn is_loopback(origin: &str) -> bool {
    let mut schemes = ["http://", "https://"].into_iter();
    schemes.any(|scheme| {
        let parts = origin.split_at_checked(scheme.len());
        parts.is_some_and(|(start, host)| {
            start.eq_ignore_ascii_case(scheme) && is_loopback_host(host)
        })
    })
}

/// Returns whether a host is this machine, with a port or without one.
fn is_loopback_host(host: &str) -> bool {
    let (name, port) = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, port)) => (address, port),
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    let number = port.strip_prefix(':').unwrap_or(port);
    let is_port = port.is_empty() || (port.starts_with(':') && number.parse::<u16>().is_ok());
    let is_it = |own: &&str| own.eq_ignore_ascii_case(name);
    is_port && ["localhost", "127.0.0.1", "::1"].iter().any(is_it)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_origins_are_told_from_those_that_look_like_it() {
        for origin in [
            "http://localhost",
            "http://localhost:3000",
            "https://127.0.0.1:1",
            "http://[::1]:80",
            "HTTP://LOCALHOST",
        ] {
            assert!(is_loopback(origin), "{origin}");
        }
        for origin in [
            "null",
            "",
            "localhost",
            "http://localhost.evil.com",
            "http://127.0.0.1.evil.com",
            "http://evil.com#localhost",
            "http://localhost:x",
            "http://localhost@evil.com",
            "http://[::1]evil.com",
            "http://0.0.0.0",
            "file://localhost",
        ] {
            assert!(!is_loopback(origin), "{origin}");
        }
    }
}
