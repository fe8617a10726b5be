//! The meaning of a server's HTTP status: the only table of statuses and of the words that go with them.

/// Statuses of the range of client errors that say who may use the server, or how often, and nothing of what it speaks.
const ADMISSION: [u16; 4] = [401, 403, 407, 429];

/// Statuses of servers that have no such method, be it of MCP or of HTTP. Servers of the handshake lifecycle fail at
/// `server/discover` with 500, and servers that answer only GET have 501 for a POST.
const NO_SUCH_METHOD: [u16; 2] = [500, 501];

/// Returns whether a response with this status to `server/discover` shows a lifecycle. Without a `DiscoverResult` or an error
/// of the per-request lifecycle it shows the handshake.
pub(crate) fn is_evidence(status: u16) -> bool {
    let is_refused = (400..500).contains(&status) && !ADMISSION.contains(&status);
    (200..300).contains(&status) || is_refused || NO_SUCH_METHOD.contains(&status)
}

/// Returns whether a server that answers `initialize` with this status may be one of HTTP+SSE.
pub fn may_be_http_sse(status: u16) -> bool {
    ((400..500).contains(&status) && !ADMISSION.contains(&status)) || status == 501
}

/// Number of bytes of a body in which the words are looked for.
const WORDS: usize = 4 << 10;

/// The statuses and words by which servers say that a session is not one of theirs, in lower case. Status 404 says so
/// without words, as the specification has it.
const SESSION_LOST: [(u16, &str); 16] = [
    // The TypeScript SDK, in a transport without a session, and its examples, server-everything and supergateway.
    (400, "server not initialized"),
    (400, "no valid session id"),
    (400, "invalid or missing session id"),
    (400, "mcp-session-id header is required"),
    // The Python SDK and FastMCP: streamable HTTP, and HTTP+SSE.
    (400, "missing session id"),
    (400, "invalid or expired session id"),
    (400, "invalid session id"),
    (400, "session_id is required"),
    // The Java SDK, and rmcp.
    (400, "session id required"),
    (422, "expect initialize request"),
    // Servers that have the words of a 404 beside another status.
    (400, "session not found"),
    (400, "session expired"),
    (400, "session has expired"),
    (400, "session does not exist"),
    (400, "unknown session"),
    (400, "no such session"),
];

/// Returns whether a response refuses a request because the server does not have the session that the request names.
pub(crate) fn is_session_lost(status: u16, body: &[u8]) -> bool {
    if [404, 410].contains(&status) {
        return true;
    }
    let beginning = body.get(..WORDS).unwrap_or(body);
    let words = String::from_utf8_lossy(beginning).to_ascii_lowercase();
    (SESSION_LOST.iter()).any(|(with, said)| *with == status && words.contains(said))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_session_is_told_from_another_refusal() {
        for (status, body) in [
            (404, ""),
            (410, "gone"),
            (
                400,
                r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}"#,
            ),
            (400, "Invalid or missing session ID"),
            (400, "Bad Request: Missing session ID"),
            (400, "Session has expired."),
            (400, "Unknown session s1"),
            (422, "Unexpected message, expect initialize request"),
        ] {
            assert!(is_session_lost(status, body.as_bytes()), "{status} {body}");
        }
        for (status, body) in [
            (400, "Bad Request"),
            (400, "session"),
            (401, "no token"),
            (403, "session not found"),
            (500, "session not found"),
            (200, "session not found"),
        ] {
            assert!(!is_session_lost(status, body.as_bytes()), "{status} {body}");
        }
    }
}
