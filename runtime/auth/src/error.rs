//! Why a sign-in failed, and what to do.

use crate::TokenKind;

/// Why a sign-in failed. No text has a secret, and texts of servers are shortened and harmless to a terminal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// A URL of a server is not one that may be used.
    #[error("{whose}: {url} is not allowed: {why}")]
    Address {
        /// The document or server that named the URL.
        whose: String,
        /// The URL.
        url: String,
        /// The rule.
        why: &'static str,
    },
    /// A server did not answer, or answered with an error that may pass.
    #[error("{url} cannot be read: {why}")]
    Unreached {
        /// The URL.
        url: String,
        /// The status or the cause.
        why: String,
    },
    /// A document is missing or not valid.
    #[error("{url}: {why}")]
    Document {
        /// The URL.
        url: String,
        /// The expected and the found value.
        why: String,
    },
    /// The metadata are those of another server.
    #[error(
        "the metadata at {url} are for the resource {found}, not for {expected}: correct `resource` at the server"
    )]
    Resource {
        /// The URL of the document.
        url: String,
        /// The URL of the MCP server.
        expected: String,
        /// The value in the document.
        found: String,
    },
    /// The metadata are those of another authorization server.
    #[error(
        "the metadata at {url} are of the issuer {found}, not of {expected}: if {found} is right, name it with --issuer"
    )]
    Issuer {
        /// The URL of the document.
        url: String,
        /// The issuer that was looked for.
        expected: String,
        /// The value in the document.
        found: String,
    },
    /// The authorization server does not list S256.
    #[error(
        "{issuer} lists {}",
        if *lists_others { "PKCE without S256, and without that no sign-in is safe" }
        else { "no PKCE method S256; if it supports S256 all the same, add --assume-pkce" }
    )]
    Pkce {
        /// The issuer.
        issuer: String,
        /// Set if it lists other methods.
        lists_others: bool,
    },
    /// The authorization server registers no clients, or not this one, and the settings name none.
    #[error(
        "{issuer} {}: register one by hand, and name it with --client-id, or pass credentials in a header",
        if why.is_empty() { "does not register clients".to_owned() } else { format!("refuses to register this client ({why})") }
    )]
    NoClient {
        /// The issuer.
        issuer: String,
        /// The words of its refusal; empty if it has no endpoint for registrations.
        why: String,
    },
    /// A client is bound to another authorization server.
    #[error(
        "the client id was used with {expected}, and the server now names {found}: sign out, or name the right one with --issuer"
    )]
    Bound {
        /// The issuer of the first sign-in.
        expected: String,
        /// The issuer now.
        found: String,
    },
    /// The browser came back with something that is not the answer to this sign-in.
    #[error("the response of the authorization page is not valid: {0}; sign in again")]
    Returned(&'static str),
    /// The authorization server refused.
    #[error("{issuer} refused: {code}{description}{}", advice(code))]
    Denied {
        /// The issuer, or its token endpoint.
        issuer: String,
        /// The error code.
        code: String,
        /// The description of the server, behind a colon.
        description: String,
    },
    /// More scopes were wanted than the token got in several sign-ins.
    #[error(
        "the server wants the scope `{scope}`, which was requested already: the account may not have it"
    )]
    Scope {
        /// The scope that the server wants.
        scope: String,
    },
    /// The server refuses a token that was issued for it a moment ago.
    #[error(
        "{server} refuses the token that {issuer} has just issued{words}: compare the audience that it expects with `resource` \
         ({resource}; another one with --resource), and its scopes with those of the token ({scope}; others with --scope)"
    )]
    TokenRefused {
        /// The URL of the MCP server.
        server: String,
        /// The issuer of the token.
        issuer: String,
        /// The words of the server, behind a colon.
        words: String,
        /// The `resource` that was requested, or `none`.
        resource: String,
        /// The scope of the token, or `none`.
        scope: String,
    },
    /// A person was shown page after page.
    #[error(
        "{server} had {count} sign-ins within 10 minutes, and wants one more: the account may not have what this call needs"
    )]
    TooManySignIns {
        /// The URL of the MCP server.
        server: String,
        /// The number of sign-ins.
        count: usize,
    },
    /// The authorization server does not revoke a token.
    #[error("{issuer} does not revoke the {token}: {why}")]
    NotRevoked {
        /// The issuer.
        issuer: String,
        /// The token.
        token: TokenKind,
        /// The words of its refusal.
        why: String,
    },
    /// A token lacks a scope, and the server does not say which.
    #[error(
        "the server refuses the token for its scope, and names no scope that it wants: name one with --scope"
    )]
    UnnamedScope,
    /// A key cannot be used.
    #[error("the private key cannot be used: {0}")]
    Key(&'static str),
    /// The caller gave up, or the sign-in took too long.
    #[error("the sign-in was not finished: {0}")]
    Unfinished(String),
}

/// Returns the advice about an error code of an authorization server, behind a semicolon.
fn advice(code: &str) -> &'static str {
    match code {
        "invalid_target" => "; if it takes no `resource`, add --resource none",
        "invalid_redirect_uri" => {
            "; choose the host that the browser comes back to with --callback-host localhost or 127.0.0.1"
        }
        "invalid_scope" => "; name scopes that it knows with --scope",
        _ => "",
    }
}

/// Returns a text of a server as an error shows it: one line, at most 300 characters, nothing that acts on a terminal.
pub(crate) fn harmless(text: &str) -> String {
    let shown = text.chars().take(300);
    shown
        .flat_map(|letter| {
            if letter.is_control() {
                letter.escape_default().collect::<Vec<char>>()
            } else {
                vec![letter]
            }
        })
        .collect()
}
