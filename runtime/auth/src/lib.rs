//! Sign-in of a client to an MCP server by OAuth, in every revision, without sockets and without a clock.
//!
//! A [`Flow`] is one sign-in, one step-up or one refresh. It returns the [`FlowStep`] to do next, and takes what came of it:
//! the response to a request, or the query with which the browser came back. Its caller sends requests, opens pages and keeps
//! what is [`StoredSignIn`]. What the revision of the server is cannot be known before the sign-in, so a flow follows the latest rules
//! and falls back to those of 2025-03-26 only on evidence
//! ([authorization](https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization)).

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod address;
mod challenge;
mod discover;
mod document;
mod dpop;
mod error;
mod flow;
mod form;
mod grant;
mod introspect;
mod jwks;
mod kept;
mod register;
mod secret;
mod settings;
mod sign;
mod step;
mod token;

pub use address::{is_allowed_address, is_loopback_url};
pub use challenge::Challenge;
pub use dpop::{DpopKey, Proof};
pub use error::AuthError;
pub use flow::Flow;
pub use introspect::IntrospectionEndpoint;
pub use jwks::{InvalidToken, JwksEndpoint, KeySet};
pub use kept::{InvalidStore, PendingSignIn, Registration, StoredSignIn, Tokens};
pub use secret::Secret;
pub use settings::{Algorithm, Grant, PrivateKey, ResourceParameter, Settings};
pub use step::{
    AuthorizationPage, Cause, DevicePage, Entropy, FlowMethod, FlowPurpose, FlowReport,
    FlowRequest, FlowResponse, FlowStep, RefusedRequest, SignInForecast, TokenKind,
};
