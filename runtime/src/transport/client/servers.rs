//! The servers that an application names to connect to, and the sign-in that they want.

#[cfg(feature = "client-stdio")]
pub use super::child::Child;
#[cfg(feature = "client-auth")]
pub use super::http::sign_in::{
    FileStore, KeptFile, MemoryStore, OAuth, OAuthBuilder, SignInError, StoreError, StoreGuard,
    TokenStore,
};
#[cfg(feature = "client-http")]
pub use super::http::{
    AuthFuture, AuthProvider, AuthRefusal, Credentials, FoundEndpoint, Http, HttpRequest, RawHttp,
    RawResponse, RefusalFate, TokenId, unix_socket, without_secrets,
};
