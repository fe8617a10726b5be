//! A server over standard input and output, or over any two streams of bytes.

use mcp_revisions_core::Spoken;

use super::McpServer;
use crate::layer::LayeredHandler;

impl<App: Spoken> McpServer<App> {
    /// Serves standard input and output until the input ends and all requests are answered.
    ///
    /// # Errors
    /// Returns an error if the input cannot be read, or the output cannot be written.
    pub async fn stdio(self) -> std::io::Result<()> {
        let handlers = LayeredHandler::within(self.handlers, self.layers);
        crate::stdio::serve(self.server, handlers).await
    }

    /// Serves standard input and output until `stop` ends, such as `async { let _ = tokio::signal::ctrl_c().await; }`, or the
    /// input does. Requests that came before are answered; then this returns, and the process can end.
    ///
    /// # Errors
    /// As [`stdio`](Self::stdio).
    pub async fn stdio_until(self, stop: impl Future<Output = ()> + Send) -> std::io::Result<()> {
        let handlers = LayeredHandler::within(self.handlers, self.layers);
        crate::stdio::serve_until(self.server, handlers, stop).await
    }

    /// Serves any two streams of bytes, one message per line.
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
