//! A server on a Unix socket, and its client.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use mcp_revisions::http::{self, Options};
use mcp_revisions::service::client::Http;
use tokio::sync::oneshot;

use crate::transports::{call, client, router};

#[tokio::test]
async fn a_unix_socket_is_of_its_user_goes_with_its_server_and_replaces_one_left_behind() {
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("unix-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("mcp.sock");
    // A process that ended without removing its file.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let url = format!("unix:{}:/api/mcp", path.display());
    let once = Http::new(&url).unwrap().with_max_attempts(1);
    let failed = call(&client().http(once), "hello").await.unwrap_err();
    assert!(failed.to_string().contains("mcp.sock"), "{failed}");

    let listener = http::bind_unix(&path).await.unwrap();
    assert_eq!(listener.to_string(), format!("unix:{}:", path.display()));
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let taken = http::bind_unix(&path).await.unwrap_err().to_string();
    assert!(taken.ends_with("another process listens there"), "{taken}");

    let options = Options::new().with_path("/api/mcp");
    let service = router().build("s", "1").unwrap().into_http_service(options);
    let (stop, stopped) = oneshot::channel::<()>();
    let stopped = async { _ = stopped.await };
    let serving = tokio::spawn(http::serve_until(
        listener,
        service,
        stopped,
        Duration::from_secs(5),
    ));
    let own = client().url(&url).unwrap();
    assert_eq!(call(&own, "hello").await.unwrap(), "hello");
    assert_eq!(call(&own, "count").await.unwrap(), "counted");
    own.close().await.unwrap();
    assert_eq!(Http::new(&url).unwrap().socket(), Some(&*path));
    stop.send(()).unwrap();
    serving.await.unwrap();
    assert!(!path.exists());

    std::fs::write(&path, "notes").unwrap();
    let other = http::bind_unix(&path).await.unwrap_err().to_string();
    assert!(
        other.ends_with("a file is there that is not a socket"),
        "{other}"
    );
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "notes");
    let long = folder.join("x".repeat(200));
    assert!(http::bind_unix(&long).await.is_err() && !long.exists());
    std::fs::remove_dir_all(&folder).unwrap();
}
