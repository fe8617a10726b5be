//! Documents of servers, read member by member.

use serde_json::{Map, Value};
use url::Url;

use crate::address::check;
use crate::error::harmless;
use crate::{AuthError, FlowResponse};

/// Maximum nesting of a document.
const DEPTH: usize = 32;
/// Maximum number of entries of a list that is read.
const ENTRIES: usize = 200;
/// Maximum length of a scope.
const SCOPE_BYTES: usize = 256;

/// Returns a JSON object, of a response with status 200 or 201.
pub(crate) fn object(answer: &FlowResponse) -> Option<Map<String, Value>> {
    let mut depth = 0_usize;
    let mut is_text = false;
    let mut is_escaped = false;
    for &byte in &answer.body {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b'{' | b'[' if !is_text => depth += 1,
            b'}' | b']' if !is_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEPTH {
            return None;
        }
    }
    // Some servers write a byte order mark.
    let body = answer.body.strip_prefix(b"\xef\xbb\xbf");
    match serde_json::from_slice(body.unwrap_or(&answer.body)) {
        Ok(Value::Object(object)) => Some(object),
        _ => None,
    }
}

pub(crate) fn text(from: &Map<String, Value>, name: &str) -> Option<String> {
    from.get(name)?.as_str().map(str::to_owned)
}

/// Returns the names in a member that is a list of texts or of objects with `issuer`, or one text; empty if there are none.
pub(crate) fn names(from: &Map<String, Value>, name: &str) -> Vec<String> {
    let all = match from.get(name) {
        Some(Value::Array(all)) => all.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    let texts = all.iter().take(ENTRIES).filter_map(|it| match it {
        Value::Object(inner) => inner.get("issuer")?.as_str(),
        other => other.as_str(),
    });
    texts.map(str::to_owned).collect()
}

/// Returns a list of texts; `None` if it is absent.
pub(crate) fn texts(from: &Map<String, Value>, name: &str) -> Option<Vec<String>> {
    let all = from.get(name)?.as_array()?.iter().take(ENTRIES);
    Some(
        all.filter_map(|it| it.as_str().map(str::to_owned))
            .collect(),
    )
}

/// Returns whether a text is a scope (RFC 6749, section 3.3).
pub(crate) fn is_scope(text: &str) -> bool {
    let is_letter = |byte: u8| (0x21..=0x7e).contains(&byte) && byte != b'"' && byte != b'\\';
    !text.is_empty() && text.len() <= SCOPE_BYTES && text.bytes().all(is_letter)
}

/// The metadata of an authorization server.
#[derive(Debug, Clone, Default)]
pub(crate) struct ServerMetadata {
    pub(crate) issuer: String,
    pub(crate) authorization_endpoint: Option<String>,
    pub(crate) token_endpoint: String,
    pub(crate) registration_endpoint: Option<String>,
    pub(crate) device_authorization_endpoint: Option<String>,
    pub(crate) revocation_endpoint: Option<String>,
    pub(crate) scopes: Vec<String>,
    pub(crate) auth_methods: Option<Vec<String>>,
    pub(crate) pkce_methods: Option<Vec<String>>,
    pub(crate) supports_metadata_documents: bool,
    pub(crate) names_issuer: bool,
}

impl ServerMetadata {
    /// Reads a document; the URLs in it are checked.
    pub(crate) fn read(
        from: &Map<String, Value>,
        place: &str,
        server: &Url,
    ) -> Result<Self, AuthError> {
        let checked = |name: &str| match text(from, name) {
            Some(url) => check(&format!("{name} at {place}"), &url, server).map(|_| Some(url)),
            None => Ok(None),
        };
        let is = |name: &str| from.get(name).and_then(Value::as_bool) == Some(true);
        let token_endpoint = checked("token_endpoint")?.ok_or_else(|| AuthError::Document {
            url: place.to_owned(),
            why: "expected `token_endpoint`".to_owned(),
        })?;
        Ok(Self {
            issuer: text(from, "issuer").unwrap_or_default(),
            authorization_endpoint: checked("authorization_endpoint")?,
            token_endpoint,
            registration_endpoint: checked("registration_endpoint")?,
            device_authorization_endpoint: checked("device_authorization_endpoint")?,
            revocation_endpoint: checked("revocation_endpoint")?,
            scopes: texts(from, "scopes_supported").unwrap_or_default(),
            auth_methods: texts(from, "token_endpoint_auth_methods_supported"),
            pkce_methods: texts(from, "code_challenge_methods_supported"),
            supports_metadata_documents: is("client_id_metadata_document_supported"),
            names_issuer: is("authorization_response_iss_parameter_supported"),
        })
    }

    /// Returns whether the metadata list PKCE with S256.
    pub(crate) fn lists_s256(&self) -> bool {
        let listed = self.pkce_methods.as_ref();
        listed.is_some_and(|all| all.iter().any(|one| one == "S256"))
    }

    /// Returns the default endpoints of an origin, which 2025-03-26 names.
    pub(crate) fn assumed(origin: &str) -> Self {
        let at = |path| format!("{origin}/{path}");
        Self {
            issuer: origin.to_owned(),
            authorization_endpoint: Some(at("authorize")),
            token_endpoint: at("token"),
            registration_endpoint: Some(at("register")),
            ..Self::default()
        }
    }
}

/// Returns the error code of a response, else its status, and the words of the server behind a colon. Servers write them as
/// OAuth does, as an object, as `message`, or as plain text.
pub(crate) fn oauth_error(answer: &FlowResponse) -> (String, String) {
    let (code, words) = match object(answer) {
        Some(body) => words(&body),
        None => (None, plain_words(answer)),
    };
    (
        code.map_or_else(|| status_text(answer), |code| harmless(&code)),
        words.map_or_else(String::new, |it| format!(": {}", harmless(&it))),
    )
}

/// Returns the status of a response as an error shows it.
pub(crate) fn status_text(answer: &FlowResponse) -> String {
    format!("HTTP status {}", answer.status)
}

/// Returns the error code and the words in a body.
fn words(body: &Map<String, Value>) -> (Option<String>, Option<String>) {
    let inner = match body.get("error").or_else(|| body.get("errors")) {
        Some(Value::Array(all)) => all.first(),
        other => other,
    };
    let empty = Map::new();
    let (named, inner) = match inner {
        Some(Value::Object(inner)) => (None, inner),
        other => (other, &empty),
    };
    let shown = |it: &Value| match it {
        Value::String(text) if text.is_empty() => None,
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let first = |from: &Map<String, Value>, names: &[&str]| {
        let mut all = names.iter().filter_map(|name| from.get(*name));
        all.find_map(shown)
    };
    let code = named
        .and_then(shown)
        .or_else(|| first(inner, &["code", "type", "error", "status"]));
    let spellings = [
        "error_description",
        "description",
        "message",
        "detail",
        "title",
    ];
    let words = first(body, &spellings).or_else(|| first(inner, &spellings));
    (code, words)
}

/// Returns the text of a body that is not a JSON object; for an HTML page, its title.
fn plain_words(answer: &FlowResponse) -> Option<String> {
    let body = String::from_utf8_lossy(&answer.body);
    let text = body.trim();
    let words = if text.starts_with('<') {
        let (_, rest) = text.split_once("<title>")?;
        rest.split('<').next()?.trim()
    } else {
        text
    };
    (!words.is_empty()).then(|| words.to_owned())
}
