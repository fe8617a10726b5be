//! Posts, which only a client sends.

use mcp_wire::MessageKind;

use crate::events::Exchange;

/// A text on its way to the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Post {
    /// Names it when its answer is handed in.
    pub exchange: Exchange,
    /// The kind of the message.
    pub kind: MessageKind,
    /// The HTTP headers that belong to it; none over stdio.
    pub headers: Vec<(String, String)>,
    /// The text, without line breaks.
    pub text: String,
    /// Set if it ends a handshake: later messages are sent once the server has taken it.
    pub ends_handshake: bool,
}
