//! Why a bridge ended, or could not begin.

use std::io;

/// Why a bridge ended, or could not begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The upstream server cannot be started or reached, or speaks no revision that is accepted.
    #[error("the server {name} cannot be used: {why}")]
    Upstream {
        /// Its command line or URL.
        name: String,
        /// Why, for people.
        why: String,
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
    /// The client's streams cannot be read or written.
    #[error("cannot read from or write to the client: {0}")]
    Client(#[source] io::Error),
    /// The bridge is ending, and starts no server any more.
    #[error("the bridge is shutting down")]
    Closed,
}
