//! A server over standard input and output, or over any two streams of bytes.

use std::time::Duration;

use mcp_revisions_core::Spoken;

use super::McpServer;
use crate::serve::LayeredHandler;

impl<App: Spoken> McpServer<App> {
    /// Serves standard input and output until the input ends. Open calls have 2 seconds from then on, and end with an error
    /// after that.
    /// Dropping the future ends the server at once: open calls get no response.
    ///
    /// # Errors
    /// Returns an error if the input cannot be read, the output cannot be written, or the client does not read its last answers.
    pub async fn stdio(self) -> std::io::Result<()> {
        let handlers = LayeredHandler::within(self.handlers, self.layers);
        crate::stdio::serve(self.server, handlers).await
    }

    /// Serves standard input and output until `stop` ends, such as [`stop_signal`](crate::stop_signal), or the input does. From
    /// then on, nothing is read. Open calls have `grace` to finish, or at most 2 seconds if the client has closed its end. Calls
    /// that do not finish are cancelled, and answered with an error. Then this returns, and the process can end.
    /// Dropping the future ends the server at once: open calls get no response.
    ///
    /// # Errors
    /// As [`stdio`](Self::stdio).
    pub async fn stdio_until(
        self,
        stop: impl Future<Output = ()> + Send,
        grace: Duration,
    ) -> std::io::Result<()> {
        let handlers = LayeredHandler::within(self.handlers, self.layers);
        crate::stdio::serve_until(self.server, handlers, stop, grace).await
    }

    /// Serves any two streams of bytes, one message per line, until the input ends, as [`stdio`](Self::stdio) does.
    /// Dropping the future ends the server at once: open calls get no response.
    ///
    /// # Errors
    /// As [`stdio`](Self::stdio).
    pub async fn lines(
        self,
        input: impl tokio::io::AsyncRead + Unpin + Send,
        output: impl tokio::io::AsyncWrite + Unpin + Send + 'static,
    ) -> std::io::Result<()> {
        let handlers = LayeredHandler::within(self.handlers, self.layers);
        crate::stdio::serve_on(self.server, handlers, input, output).await
    }
}
