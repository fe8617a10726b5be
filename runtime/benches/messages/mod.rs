//! Messages that the benches share; `{id}` and `{version}` are filled in.

/// A request of a client, with as much in it as there is in real ones; `{id}` is its id.
pub(crate) const HANDSHAKE_CALL: &str = r#"{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{"name":"search_issues","arguments":{"query":"is:open label:bug sort:updated-desc","repository":"modelcontextprotocol/specification","limit":25,"includeClosed":false},"_meta":{"progressToken":"call-1842"}}}"#;

/// The same of the per-request lifecycle.
pub(crate) const PER_REQUEST_CALL: &str = r#"{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{"name":"search_issues","arguments":{"query":"is:open label:bug sort:updated-desc","repository":"modelcontextprotocol/specification","limit":25,"includeClosed":false},"_meta":{"progressToken":"call-1842","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}},"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"}}}}"#;

/// Opens a session.
pub(crate) const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"{version}","capabilities":{"roots":{"listChanged":true},"sampling":{}},"clientInfo":{"name":"bench","version":"1.0.0"}}}"#;
