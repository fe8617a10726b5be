//! Why a bridge ended, or could not begin.

use std::io;
use std::path::PathBuf;

use mcp_revisions::sansio::client::NeededSignIn;
use mcp_revisions::sansio::errors;
use mcp_wire::ErrorObject;

/// Why a bridge ended, or could not begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The upstream server cannot be started or reached, or speaks no revision that is accepted.
    #[error("the server {name} cannot be used: {why}")]
    Upstream {
        /// Its name, its program, or its URL without user and query.
        name: String,
        /// Why, for people.
        why: String,
    },
    /// The upstream server wants a sign-in that the bridge does not have.
    #[error("the server {name} cannot be used: {}", needed.why)]
    SignIn {
        /// Its name, or its URL without user and query.
        name: String,
        /// The sign-in.
        needed: Box<NeededSignIn>,
    },
    /// The upstream server ended while its client was connected.
    #[error("the server has ended")]
    UpstreamEnded,
    /// A name of a server, or the introduction of a gateway, cannot be used.
    #[error("the name {name} cannot be used: {why}")]
    Name {
        /// The name, as it was given.
        name: String,
        /// Why, for people.
        why: String,
    },
    /// A file of servers cannot be used.
    #[error("cannot read {}: {why}", file.display())]
    Config {
        /// The file.
        file: PathBuf,
        /// Why, for people.
        why: String,
    },
    /// The client's streams cannot be read or written.
    #[error("cannot read from or write to the client: {0}")]
    Client(#[source] io::Error),
    /// The bridge is ending, and starts no server any more.
    #[error("the bridge is shutting down")]
    Closed,
}

impl Error {
    /// Returns the error of a client's request that no server can answer.
    pub(crate) fn to_response(&self) -> ErrorObject {
        match self {
            Self::SignIn { needed, .. } => ErrorObject {
                message: self.to_string(),
                ..needed.to_error()
            },
            error => errors::internal(&error.to_string()).error,
        }
    }
}
