//! The cookies of a server, which one connection keeps and returns: balancers tell by them where a session is.

use std::time::{Duration, SystemTime};

use ::http::header::{COOKIE, SET_COOKIE};
use ::http::{HeaderMap, HeaderValue, Uri};

/// Maximum number of cookies of a connection; the oldest one goes first.
const MOST: usize = 32;
/// Maximum length of a cookie in bytes; longer ones are not kept.
const LONGEST: usize = 4 << 10;

/// The cookies of one connection. All its requests are for one origin, so that a cookie goes to the server that set it only.
#[derive(Debug, Default)]
pub(super) struct Cookies(Vec<Cookie>);

#[derive(Debug)]
struct Cookie {
    name: String,
    value: String,
    path: String,
    /// When it ends; that of the connection if unset.
    until: Option<SystemTime>,
}

impl Cookies {
    /// Adds the cookies for a URL to the headers of a request, behind those that stand there.
    pub(super) fn put_into(&self, headers: &mut HeaderMap, url: &Uri) {
        let now = SystemTime::now();
        let is_for = |cookie: &&Cookie| {
            cookie.until.is_none_or(|until| until > now) && is_within(url.path(), &cookie.path)
        };
        let own = headers.get(COOKIE).and_then(|value| value.to_str().ok());
        let mut pairs: Vec<String> = own.map(str::to_owned).into_iter().collect();
        let kept = self.0.iter().filter(is_for);
        pairs.extend(kept.map(|it| format!("{}={}", it.name, it.value)));
        // A value that came in a header can be one.
        if let Ok(value) = HeaderValue::from_str(&pairs.join("; "))
            && !pairs.is_empty()
        {
            headers.insert(COOKIE, value);
        }
    }

    /// Keeps the cookies that a response from this URL sets, and forgets those that it ends.
    pub(super) fn take_from(&mut self, headers: &HeaderMap, url: &Uri) {
        let now = SystemTime::now();
        for line in headers.get_all(SET_COOKIE) {
            let read = line.to_str().ok().and_then(|line| read(line, url, now));
            let Some(cookie) = read else { continue };
            (self.0).retain(|it| (&it.name, &it.path) != (&cookie.name, &cookie.path));
            if cookie.until.is_some_and(|until| until <= now) {
                continue;
            }
            if self.0.len() >= MOST {
                self.0.remove(0);
            }
            self.0.push(cookie);
        }
    }
}

/// Returns the cookie that a line sets; `None` if it is not valid, or is for another host.
fn read(line: &str, url: &Uri, now: SystemTime) -> Option<Cookie> {
    let mut parts = line.split(';').map(str::trim);
    let (name, value) = parts.next()?.split_once('=')?;
    let (name, value) = (name.trim(), value.trim());
    if name.is_empty() || line.len() > LONGEST {
        return None;
    }
    let folder = url.path().rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut cookie = Cookie {
        name: name.to_owned(),
        value: value.to_owned(),
        path: if folder.is_empty() { "/" } else { folder }.to_owned(),
        until: None,
    };
    let mut age = None;
    for part in parts {
        let (attribute, value) = part.split_once('=').unwrap_or((part, ""));
        let (attribute, value) = (attribute.trim(), value.trim());
        if attribute.eq_ignore_ascii_case("path") && value.starts_with('/') {
            cookie.path = value.to_owned();
        } else if attribute.eq_ignore_ascii_case("domain") {
            let domain = value.trim_start_matches('.').to_ascii_lowercase();
            let host = url.host().unwrap_or_default().to_ascii_lowercase();
            let is_of_host = host == domain || host.ends_with(&format!(".{domain}"));
            (domain.is_empty() || is_of_host).then_some(())?;
        } else if attribute.eq_ignore_ascii_case("expires") {
            cookie.until = httpdate::parse_http_date(value).ok().or(cookie.until);
        } else if attribute.eq_ignore_ascii_case("max-age") {
            age = value.parse::<i64>().ok();
        }
    }
    if let Some(age) = age {
        let age = Duration::from_secs(u64::try_from(age).unwrap_or_default());
        cookie.until = now.checked_add(age);
    }
    Some(cookie)
}

/// Returns whether a path is the one of a cookie, or below it.
fn is_within(path: &str, of_cookie: &str) -> bool {
    path.strip_prefix(of_cookie)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || of_cookie.ends_with('/'))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

    use super::*;

    /// The `Cookie` header of a request for a path, after responses from `/api/mcp` with these lines.
    fn sent(lines: &[&str], path: &str) -> Option<String> {
        let (mut cookies, mut headers) = (Cookies::default(), HeaderMap::new());
        for line in lines {
            headers.clear();
            headers.insert(SET_COOKIE, line.parse().unwrap());
            cookies.take_from(&headers, &"http://host.example/api/mcp".parse().unwrap());
        }
        let mut headers = HeaderMap::new();
        cookies.put_into(
            &mut headers,
            &format!("http://host.example{path}").parse().unwrap(),
        );
        headers
            .get(COOKIE)
            .map(|value| value.to_str().unwrap().to_owned())
    }

    #[test]
    fn a_cookie_is_returned_below_its_path_until_it_ends() {
        let cases = [
            (&["a=1"][..], "/api/mcp", Some("a=1")),
            (&["a=1"], "/other", None),
            (&["a=1; Path=/"], "/other", Some("a=1")),
            (&["a=1; path=/api/m"], "/api/mcp", None),
            (
                &["a=1", "b=2; Secure; HttpOnly", "a=3"],
                "/api/mcp",
                Some("b=2; a=3"),
            ),
            (
                &["a=1; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT"],
                "/api/mcp",
                Some("a=1"),
            ),
            (&["a=1", "a=; Max-Age=0"], "/api/mcp", None),
            (
                &["a=1", "a=; Expires=Thu, 01 Jan 1970 00:00:00 GMT"],
                "/api/mcp",
                None,
            ),
            (&["a=1; Domain=.example"], "/api/mcp", Some("a=1")),
            (&["a=1; Domain=other.example"], "/api/mcp", None),
            (&["a"], "/api/mcp", None),
            (&["=1"], "/api/mcp", None),
        ];
        for (lines, path, expected) in cases {
            assert_eq!(sent(lines, path).as_deref(), expected, "{lines:?}");
        }
        let many: Vec<String> = (0..100).map(|at| format!("c{at}={at}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(sent(&many, "/api/mcp").unwrap().split("; ").count(), MOST);
    }
}
