//! A client that starts its server, and speaks over its standard streams. Feature `client-stdio`.

use mcp_revisions_core::Spoken;
use mcp_revisions_sansio::client::Channel;
use mcp_wire::service::{ClientSide, Serves};

use super::{Child, Client, ClientBuilder, ClientContext};
use crate::transport::client::Transport;
use crate::transport::spawn::in_runtime;

impl<App: Spoken, H> ClientBuilder<App, H>
where
    App::Protocol: Serves<ClientSide, H, ClientContext<App>>,
    H: Send + Sync + 'static,
{
    /// Starts a server, given by the name of its program and its arguments, and connects over its standard streams. Its
    /// standard error is that of this process.
    ///
    /// # Errors
    /// Returns an error if no program is named, if it cannot be started, or outside of a tokio runtime.
    pub fn command<S: AsRef<std::ffi::OsStr>>(
        self,
        command: impl IntoIterator<Item = S>,
    ) -> std::io::Result<Client<App>> {
        let mut words = command.into_iter();
        let program = words.next().ok_or_else(|| {
            let why = "name the server to start: the command has no words";
            std::io::Error::new(std::io::ErrorKind::InvalidInput, why)
        })?;
        let mut command = tokio::process::Command::new(program);
        command.args(words);
        self.child(Child::new(command))
    }

    /// Starts a server with these options: its environment, its directory, and where its standard error goes.
    ///
    /// # Errors
    /// Returns an error if the program cannot be started, or outside of a tokio runtime.
    pub fn child(self, child: Child) -> std::io::Result<Client<App>> {
        in_runtime()?;
        let carrier = Transport::child(child, self.message_limit())?;
        Ok(self.run(Channel::Stdio, carrier))
    }
}
