//! The servers that an application names to connect to, and the sign-in that they want.

#[cfg(feature = "client-stdio")]
pub use super::child::Child;
#[cfg(feature = "client-http")]
pub use super::http::{
    AuthFuture, AuthProvider, AuthRefusal, Credentials, FoundEndpoint, Http, HttpRequest, RawHttp,
    RawResponse, RefusalFate, TokenId, sign_in::*, unix_socket, without_secrets,
};
