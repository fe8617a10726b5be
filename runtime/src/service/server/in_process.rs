//! A server and its client in one process. Features `client` and `server-stdio`.

use mcp_revisions_core::Spoken;
use mcp_wire::service::{ClientSide, Serves};

use super::McpServer;
use crate::service::client::{Client, ClientBuilder, ClientContext};
use crate::transport::spawn::spawn;

/// Number of bytes that wait on the way between both.
const PIPE: usize = 64 << 10;

impl<App: Spoken + 'static> McpServer<App> {
    /// Serves a client in the same process, over lines, without a socket: for tests of handlers, and for servers that a
    /// program has built in. The server ends with the client.
    ///
    /// ```
    /// # use mcp_revisions::service::client::ResultText;
    /// # use mcp_revisions::service::{Client, Router};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = Router::new().tool("now", "Tells the time.", || async { "noon" }).build("clock", "1.0")?;
    /// let client = server.client(Client::builder(&mcp_revisions::program!()));
    /// assert_eq!(client.call("now", &serde_json::json!({})).await?.text(), "noon");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// Panics outside of a tokio runtime.
    pub fn client<Other, H>(self, builder: ClientBuilder<Other, H>) -> Client<Other>
    where
        Other: Spoken,
        Other::Protocol: Serves<ClientSide, H, ClientContext<Other>>,
        H: Send + Sync + 'static,
    {
        let (near, far) = tokio::io::duplex(PIPE);
        let (input, output) = tokio::io::split(far);
        spawn(self.lines(input, output));
        let (input, output) = tokio::io::split(near);
        builder.lines(input, output)
    }
}
