//! Tasks in both of their forms, and what both roles do of them.
//!
//! A request that takes long is answered at once by a task, and its client fetches the result later. The protocol has
//! that twice: in the core of a revision, where the client asks for a task, and as an extension, where the server decides.
//! A server keeps each task in the application's revision, and converts it for each of its readers.

#[cfg(all(feature = "client", feature = "ext-tasks"))]
pub(crate) mod client;
#[cfg(all(feature = "client", not(feature = "ext-tasks")))]
#[path = "without_client.rs"]
pub(crate) mod client;
#[cfg(feature = "ext-tasks")]
pub(crate) mod form;
pub(crate) mod plain;
#[cfg(all(feature = "server", feature = "ext-tasks"))]
pub(crate) mod server;
#[cfg(all(feature = "server", not(feature = "ext-tasks")))]
#[path = "without.rs"]
pub(crate) mod server;
mod status;

pub use status::TaskStatus;
