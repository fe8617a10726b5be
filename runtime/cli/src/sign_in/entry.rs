//! The sign-in of a server in a file of servers.

use std::path::Path;

use super::SignInArguments;
use crate::bridge::config::server_at_url;

/// The sign-in of one server of a file; the command line has the rest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct EntrySignIn {
    pub(crate) client_id: Option<String>,
    pub(crate) client_secret: Option<String>,
    pub(crate) scopes: Vec<String>,
    pub(crate) issuer: Option<String>,
    pub(crate) resource: Option<String>,
    pub(crate) callback_port: Option<u16>,
}

/// Returns the URL of a server, and the options of its sign-in: as they were given, or of the entry of this name in a file.
///
/// # Errors
/// Returns an error if the file has no such entry at a URL.
pub(super) fn target(
    config: Option<&Path>,
    server: &str,
    given: &SignInArguments,
) -> anyhow::Result<(String, SignInArguments)> {
    match config {
        None => Ok((server.to_owned(), given.clone())),
        Some(file) => {
            let (url, entry) = server_at_url(file, server)?;
            Ok((url, given.for_entry(&entry.sign_in)))
        }
    }
}
