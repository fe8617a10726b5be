//! Connections without input and output: bytes, headers and the time go in, messages and events come out.
//!
//! [`service`](crate::service) has servers and clients that run. A program that brings its own sockets or its own clock
//! drives a [`Connection`] instead, in the role of a [`Server`] or of a [`client`].

pub use crate::protocol::server::Server;
pub use crate::protocol::{Connection, Role, client, negotiate, server};
