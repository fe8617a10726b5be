//! Verifiers of access tokens that ask an authorization server over HTTP.

mod introspect;
mod jwks;

pub use introspect::Introspection;
pub use jwks::Jwks;
