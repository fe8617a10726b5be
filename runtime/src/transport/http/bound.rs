//! Listeners for HTTP: bound to an address or, on Unix, to a socket in the file system.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
#[cfg(unix)]
use std::path::{Path, PathBuf};

use tokio::net::{TcpListener, TcpSocket, TcpStream, ToSocketAddrs};
#[cfg(unix)]
use tokio::net::{UnixListener, UnixSocket, UnixStream};

/// A listener for HTTP, on a TCP port or on a Unix socket. It displays as the URL by which clients reach it, without a path.
#[derive(Debug)]
pub struct Listener(ListenerSocket);

#[derive(Debug)]
enum ListenerSocket {
    Address(TcpListener),
    #[cfg(unix)]
    File {
        listener: UnixListener,
        /// Removed with the listener.
        _file: Option<SocketFile>,
    },
}

impl From<TcpListener> for Listener {
    fn from(listener: TcpListener) -> Self {
        Self(ListenerSocket::Address(listener))
    }
}

/// Dropping this listener leaves its file: [`bind_unix`] returns one that removes it.
#[cfg(unix)]
impl From<UnixListener> for Listener {
    fn from(listener: UnixListener) -> Self {
        Self(ListenerSocket::File {
            listener,
            _file: None,
        })
    }
}

impl fmt::Display for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            ListenerSocket::Address(listener) => match listener.local_addr() {
                Ok(address) => write!(f, "http://{address}"),
                Err(_) => f.write_str("http://"),
            },
            #[cfg(unix)]
            ListenerSocket::File { listener, .. } => {
                let address = listener.local_addr().ok();
                let path = address.as_ref().and_then(|it| it.as_pathname());
                write!(f, "unix:{}:", path.unwrap_or(Path::new("")).display())
            }
        }
    }
}

impl Listener {
    /// Accepts a connection, and returns it with the address of its client: 127.0.0.1 for a Unix socket.
    pub(super) async fn accept(&self) -> io::Result<(TcpStream, IpAddr)> {
        match &self.0 {
            ListenerSocket::Address(listener) => {
                let (stream, address) = listener.accept().await?;
                Ok((stream, address.ip()))
            }
            #[cfg(unix)]
            ListenerSocket::File { listener, .. } => {
                let (stream, _) = listener.accept().await?;
                let descriptor = std::os::fd::OwnedFd::from(stream.into_std()?);
                // Both kinds of sockets are read and written by the same system calls.
                let stream = TcpStream::from_std(std::net::TcpStream::from(descriptor))?;
                Ok((stream, IpAddr::from([127, 0, 0, 1])))
            }
        }
    }
}

/// Binds a listener to an address: `("127.0.0.1", 8080)` is reached from this machine only, `("0.0.0.0", 8080)` from every
/// machine that can reach this one. Port 0 takes any free port.
/// Cancel safe.
///
/// Allow the names by which clients reach the server: [`Options::allow_host`](super::Options::allow_host).
///
/// # Errors
/// Returns an error if the name does not resolve, or if no address that it resolves to can be bound: the port is taken,
/// or the address is not one of this machine.
pub async fn bind(address: impl ToSocketAddrs) -> io::Result<TcpListener> {
    let mut failed = None;
    for address in tokio::net::lookup_host(address).await? {
        match listen(address) {
            Ok(listener) => return Ok(listener),
            Err(error) => {
                let why = format!("cannot listen on {address}: {error}");
                failed = Some(io::Error::new(error.kind(), why));
            }
        }
    }
    let none = || io::Error::new(io::ErrorKind::InvalidInput, "the name has no address");
    Err(failed.unwrap_or_else(none))
}

/// Maximum number of connections that wait to be accepted. With fewer, clients of a burst retry after a second.
const BACKLOG: u32 = 4_096;

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // A restarted server takes its port back at once. On Windows, the option would take the port of another process.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Binds a listener to a socket in the file system. Its mode is 0600, so that only the user of this process can connect; the
/// application may set another one. Dropping the listener removes the file. A socket that an ended process left is replaced.
/// Cancel safe.
///
/// Requests are treated as those of TCP from this machine: their `Host` is `localhost`, or one that
/// [`Options::allow_host`](super::Options::allow_host) names.
///
/// # Errors
/// Returns an error if a process listens there, if another file is there, or if the path is too long for a socket.
#[cfg(unix)]
pub async fn bind_unix(file: impl AsRef<Path>) -> io::Result<Listener> {
    use std::os::unix::fs::PermissionsExt as _;

    let path = file.as_ref();
    let failed = |error: io::Error| {
        io::Error::new(
            error.kind(),
            format!("cannot listen on {}: {error}", path.display()),
        )
    };
    remove_left_behind(path).await.map_err(failed)?;
    let bound = || {
        let socket = UnixSocket::new_stream()?;
        socket.bind(path)?;
        let file = SocketFile::of(path)?;
        // The socket takes no connection before it listens: its mode is set in time.
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
        Ok(Listener(ListenerSocket::File {
            listener: socket.listen(BACKLOG)?,
            _file: Some(file),
        }))
    };
    bound().map_err(failed)
}

/// Removes the socket of a process that does not listen any more.
#[cfg(unix)]
async fn remove_left_behind(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::FileTypeExt as _;

    let is_socket = match std::fs::symlink_metadata(path) {
        Ok(found) => found.file_type().is_socket(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let taken = |why| io::Error::new(io::ErrorKind::AddrInUse, why);
    if !is_socket {
        return Err(taken("a file is there that is not a socket"));
    }
    match UnixStream::connect(path).await {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            std::fs::remove_file(path)
        }
        _ => Err(taken("another process listens there")),
    }
}

/// The file of a socket. Dropping this removes it.
#[cfg(unix)]
#[derive(Debug)]
struct SocketFile {
    path: PathBuf,
    /// Device and inode: another process may have replaced the file.
    identity: (u64, u64),
}

#[cfg(unix)]
impl SocketFile {
    fn of(path: &Path) -> io::Result<Self> {
        let identity = Self::identity(path)?;
        let path = std::path::absolute(path)?;
        Ok(Self { path, identity })
    }

    fn identity(path: &Path) -> io::Result<(u64, u64)> {
        use std::os::unix::fs::MetadataExt as _;

        let found = std::fs::symlink_metadata(path)?;
        Ok((found.dev(), found.ino()))
    }
}

#[cfg(unix)]
impl Drop for SocketFile {
    fn drop(&mut self) {
        if Self::identity(&self.path).ok() == Some(self.identity) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
