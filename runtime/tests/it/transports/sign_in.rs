//! A client signs in to a guarded server, with a browser that follows redirects at once.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::http::{HeaderMap, Method, StatusCode};
use mcp_revisions::auth::{Settings, StoredSignIn};
use mcp_revisions::service::Client;
use mcp_revisions::service::client::{
    AuthProvider as _, AuthRefusal, FileStore, Http, HttpRequest, OAuth, RefusalFate, StoreError,
    StoreGuard, TokenStore,
};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::watch;

use crate::transports::call;
use crate::transports::guarded::{Quirks, Servers, fetch, open};

const LONG: Duration = Duration::from_secs(60);

/// A folder of a test, which is empty.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("mcp-sign-in-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

#[tokio::test]
async fn many_calls_at_once_are_one_page_one_registration_and_one_token() {
    let servers = Servers::start(Quirks::default()).await;
    let oauth = servers.oauth(None, LONG, open());
    let client = servers.client(&oauth);
    let calls: Vec<_> = (0..10)
        .map(|_| {
            let client = client.clone();
            crate::support::spawn(async move { call(&client, "hello").await })
        })
        .collect();
    for one in calls {
        assert_eq!(one.await.unwrap(), Ok("hello".to_owned()));
    }
    assert_eq!(servers.counts(), [1, 1, 1, 0]);
    // The token ends: it is refreshed once, without a page.
    servers.seen.lock().unwrap().withdrawn = 1;
    for _ in 0..3 {
        assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
    }
    assert_eq!(servers.counts(), [1, 1, 1, 1]);
    let shown = format!("{oauth:?} {:?}", oauth.kept());
    assert!(
        !shown.contains("s3cret") && !shown.contains("r3fresh"),
        "{shown}"
    );
}

#[tokio::test]
async fn several_programs_with_one_store_open_one_page_and_refresh_once() {
    let servers = Servers::start(Quirks::default()).await;
    let folder = folder("shared");
    let clients: Vec<Client> = (0..5)
        .map(|_| {
            let store = FileStore::new(&folder, &[&servers.url]);
            servers.client(&servers.oauth(Some(store), LONG, open()))
        })
        .collect();
    for withdrawn in [0, 1, 2] {
        servers.seen.lock().unwrap().withdrawn = withdrawn;
        let calls: Vec<_> = clients
            .iter()
            .map(|client| {
                let client = client.clone();
                crate::support::spawn(async move { call(&client, "hello").await })
            })
            .collect();
        for one in calls {
            assert_eq!(one.await.unwrap(), Ok("hello".to_owned()));
        }
        assert_eq!(servers.counts(), [1, 1, 1, withdrawn]);
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test]
async fn a_server_that_withdraws_its_tokens_time_and_again_is_sent_refreshed_ones_without_a_page() {
    let servers = Servers::start(Quirks::default()).await;
    let client = servers.client(&servers.oauth(None, LONG, open()));
    for withdrawn in 0..6 {
        servers.seen.lock().unwrap().withdrawn = withdrawn;
        assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
        assert_eq!(servers.counts(), [1, 1, 1, withdrawn]);
    }
}

#[tokio::test]
async fn a_call_that_does_not_wait_says_where_to_sign_in_and_the_next_one_uses_it() {
    let servers = Servers::start(Quirks::default()).await;
    let (opens, gate) = watch::channel(false);
    let oauth = servers.oauth(None, Duration::from_millis(100), gate);
    let client = servers.client(&oauth);
    let failed = call(&client, "hello").await.unwrap_err().to_string();
    assert!(failed.contains("sign in"), "{failed}");
    opens.send(true).unwrap();
    oauth.sign_in(None).await.unwrap();
    assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
    assert_eq!(servers.counts(), [1, 1, 1, 0]);
}

/// Sends requests that are not the answer to a sign-in, and returns the statuses.
async fn attack(page: &str, rounds: usize) -> Vec<String> {
    let (_, rest) = page.split_once("redirect_uri=").unwrap();
    let redirect = rest.split('&').next().unwrap();
    let redirect = redirect.replace("%3A", ":").replace("%2F", "/");
    let (_, rest) = page.split_once("&state=").unwrap();
    let state = rest.split('&').next().unwrap();
    let host = redirect.split('/').nth(2).unwrap();
    let right = format!("/callback?code=stolen&state={state}");
    let long = format!("/callback?state={}", "x".repeat(1 << 20));
    let requests = [
        format!("GET /callback?code=stolen&state=wrong HTTP/1.1\r\nHost: {host}"),
        "GET /callback?code=stolen HTTP/1.1\r\nHost: ".to_owned() + host,
        format!("GET {right} HTTP/1.1\r\nHost: evil.example"),
        format!("GET /other?state={state} HTTP/1.1\r\nHost: {host}"),
        format!("POST {right} HTTP/1.1\r\nContent-Length: 0\r\nHost: {host}"),
        format!("GET {long} HTTP/1.1\r\nHost: {host}"),
    ];
    let mut statuses = Vec::new();
    for request in requests.iter().cycle().take(rounds) {
        let Ok(mut stream) = TcpStream::connect(host).await else {
            break;
        };
        let _ = stream.write_all(request.as_bytes()).await;
        let _ = stream.write_all(b"\r\nConnection: close\r\n\r\n").await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        let answer = String::from_utf8_lossy(&answer);
        statuses.push(answer.split(' ').nth(1).unwrap_or("none").to_owned());
    }
    statuses
}

#[tokio::test]
async fn other_programs_and_pages_that_call_the_listener_of_a_sign_in_change_nothing() {
    let servers = Servers::start(Quirks::default()).await;
    let http = Http::new(&servers.url).unwrap();
    let (report, reports) = tokio::sync::oneshot::channel();
    let report = std::sync::Mutex::new(Some(report));
    let browser = move |page: &str| {
        let (page, report) = (page.to_owned(), report.lock().unwrap().take());
        crate::support::spawn(async move {
            let statuses = attack(&page, 150).await;
            let (_, rest) = page.split_once("127.0.0.1%3A").unwrap();
            let port: u16 = rest.split('%').next().unwrap().parse().unwrap();
            // Connections that send nothing make room.
            let mut idle = Vec::new();
            for _ in 0..100 {
                idle.push(TcpStream::connect(("127.0.0.1", port)).await.unwrap());
            }
            let answer = fetch(&page).await;
            let (_, rest) = answer.split_once("location: ").unwrap();
            let redirect = rest.lines().next().unwrap().to_owned();
            assert!(fetch(&redirect).await.contains("200 OK"));
            let _ = report.unwrap().send(statuses);
        });
    };
    let oauth = OAuth::builder(&http, Settings::new(&servers.url), browser);
    let client = servers.client(&oauth.build());
    assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
    let statuses = reports.await.unwrap();
    assert!(
        statuses.len() == 150 && !statuses.contains(&"200".to_owned()),
        "{statuses:?}"
    );
    let bad = ["400", "400", "404", "404", "405"];
    assert_eq!(statuses[..5], bad);
}

#[test]
fn a_page_of_a_program_that_is_ended_is_taken_up_by_the_next_one_without_another_tab() {
    let runtime = || tokio::runtime::Runtime::new().unwrap();
    let (folder, servers) = (folder("ended"), runtime());
    let guarded = servers.block_on(Servers::start(Quirks::default()));
    let (opened, pages) = std::sync::mpsc::channel();
    let provider = || {
        let (opened, shown) = (opened.clone(), opened.clone());
        let http = Http::new(&guarded.url).unwrap();
        OAuth::builder(&http, Settings::new(&guarded.url), move |page| {
            opened.send(("opened", page.to_owned())).unwrap();
        })
        .with_store(FileStore::new(&folder, &[&guarded.url]))
        .on_open_page(move |page| shown.send(("shown", page.to_owned())).unwrap())
        .build()
    };
    let ended = runtime();
    let client = {
        let _entered = ended.enter();
        guarded.client(&provider())
    };
    ended.spawn(async move { call(&client, "hello").await });
    let (how, page) = pages.recv().unwrap();
    assert_eq!(how, "opened");
    // Another program shows the page that is waited for, and tells its client.
    let waiting = servers.block_on(async {
        let oauth = guarded.builder(Settings::new(&guarded.url), open());
        let oauth = oauth.with_store(FileStore::new(&folder, &[&guarded.url]));
        let oauth = oauth.with_call_timeout(Duration::from_millis(600)).build();
        let client = guarded.client(&oauth);
        call(&client, "hello").await.unwrap_err().to_string()
    });
    assert!(
        waiting.contains(&page) && waiting.contains("call again"),
        "{waiting}"
    );
    ended.shutdown_background();
    servers.block_on(async {
        let client = guarded.client(&provider());
        let called = crate::support::spawn(async move { call(&client, "hello").await });
        let shown = tokio::task::spawn_blocking(move || pages.recv().unwrap());
        assert_eq!(shown.await.unwrap(), ("shown", page.clone()));
        let answer = fetch(&page).await;
        let (_, rest) = answer.split_once("location: ").unwrap();
        let redirect = rest.lines().next().unwrap().to_owned();
        // The listener opens a moment before the page is shown.
        assert!(fetch(&redirect).await.contains("200 OK"));
        assert_eq!(called.await.unwrap(), Ok("hello".to_owned()));
    });
    assert_eq!(guarded.counts(), [1, 1, 1, 0]);
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test]
async fn a_server_that_refuses_what_is_issued_for_it_opens_one_page_for_all_programs() {
    for token in [json!({}), json!({"refresh_token": null})] {
        let quirks = Quirks {
            token,
            challenge: "Bearer error=\"invalid_token\", error_description=\"audience x\"",
            ..Quirks::default()
        };
        let servers = Servers::start(quirks).await;
        servers.seen.lock().unwrap().withdrawn = 1_000;
        let folder = folder("refused");
        let client = || {
            let store = FileStore::new(&folder, &[&servers.url]);
            servers.client(&servers.oauth(Some(store), LONG, open()))
        };
        let calls: Vec<_> = (0..5)
            .map(|_| {
                let client = client();
                crate::support::spawn(async move {
                    for _ in 0..2 {
                        let why = call(&client, "hello").await.unwrap_err().to_string();
                        for words in ["has just issued", "audience x", "--resource", "--scope"] {
                            assert!(why.contains(words), "{why}");
                        }
                    }
                })
            })
            .collect();
        for one in calls {
            one.await.unwrap();
        }
        assert!(call(&client(), "hello").await.is_err());
        assert_eq!(servers.counts()[1], 1, "one page");
        std::fs::remove_dir_all(folder).unwrap();
    }
}

/// A store that is full.
struct FullStore;

impl TokenStore for FullStore {
    fn load(&self) -> Result<Option<StoredSignIn>, StoreError> {
        Ok(None)
    }

    fn save(&self, _: &StoredSignIn) -> Result<(), StoreError> {
        Err(StoreError::Missing("no room".to_owned()))
    }

    fn try_lock(&self) -> Result<Option<StoreGuard>, StoreError> {
        Ok(Some(Box::new(())))
    }
}

#[tokio::test]
async fn tokens_that_cannot_be_stored_are_used_and_their_store_is_told_once() {
    let servers = Servers::start(Quirks::default()).await;
    let told = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let tell = told.clone();
    let oauth = servers
        .builder(Settings::new(&servers.url), open())
        .with_store(FullStore)
        .on_store_failure(move |why| tell.lock().unwrap().push(why.to_string()))
        .build();
    let client = servers.client(&oauth);
    for withdrawn in 0..3 {
        servers.seen.lock().unwrap().withdrawn = withdrawn;
        assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
        // The refresh token of the last time was spent: the new one is not thrown away.
        assert_eq!(servers.counts(), [1, 1, 1, withdrawn]);
        tokio::time::sleep(Duration::from_millis(110)).await;
    }
    assert_eq!(*told.lock().unwrap(), ["no room"]);
}

#[tokio::test]
async fn a_token_that_another_program_signed_out_is_not_sent_any_more() {
    let servers = Servers::start(Quirks::default()).await;
    let folder = folder("signed-out");
    let store = || Some(FileStore::new(&folder, &[&servers.url]));
    let client = servers.client(&servers.oauth(store(), LONG, open()));
    assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
    let revoked = servers
        .oauth(store(), LONG, open())
        .sign_out()
        .await
        .unwrap();
    let kinds: Vec<String> = revoked.iter().map(|(kind, _)| kind.to_string()).collect();
    assert_eq!(kinds, ["refresh token", "access token"]);
    tokio::time::sleep(Duration::from_millis(110)).await;
    assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
    assert_eq!(servers.counts(), [1, 2, 2, 0], "it signed in again");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_store_makes_its_folder_when_something_is_stored() {
    let folder = folder("later").join("state");
    let store = FileStore::new(folder.join("auth"), &["https://a.example/mcp"]);
    assert!(store.load().unwrap().is_none() && !folder.exists());
    store.save(&StoredSignIn::default()).unwrap();
    assert!(store.load().unwrap().is_some());
    std::fs::remove_dir_all(folder.parent().unwrap()).unwrap();
}

#[cfg(unix)]
#[test]
fn a_store_is_for_its_owner_and_no_link_is_followed() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let folder = folder("owner");
    let store = FileStore::new(&folder, &["https://a.example/mcp"]);
    store.save(&StoredSignIn::default()).unwrap();
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    let file = std::fs::read_dir(&folder)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    assert_eq!(mode(&file), 0o600);
    assert!(store.load().unwrap().is_some());
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(store.load().unwrap_err().to_string().contains("644"));
    std::fs::remove_file(&file).unwrap();
    symlink("/etc/passwd", &file).unwrap();
    let why = store.load().unwrap_err().to_string();
    assert!(why.contains("symbolic link"), "{why}");
    let locked = store.try_lock().unwrap();
    assert!(store.try_lock().unwrap().is_none());
    drop(locked);
    assert!(store.try_lock().unwrap().is_some());
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn half_a_file_is_named_and_a_save_that_fails_leaves_what_was_stored() {
    let folder = folder("half");
    let store = FileStore::new(&folder, &["https://a.example/mcp"]);
    let kept = StoredSignIn::default();
    store.save(&kept).unwrap();
    let file = std::fs::read_dir(&folder)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let whole = std::fs::read_to_string(&file).unwrap();
    // What a full disk leaves of a new file is never the file itself.
    let new = format!(
        "{}.{}.new",
        file.file_stem().unwrap().display(),
        std::process::id()
    );
    std::fs::create_dir(folder.join(&new)).unwrap();
    let error = store.save(&kept).unwrap_err();
    let StoreError::Io { error: cause, .. } = &error else {
        panic!("{error}");
    };
    assert_ne!(cause.kind(), std::io::ErrorKind::Other);
    let why = error.to_string();
    assert!(why.contains(&file.display().to_string()), "{why}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), whole);
    assert!(store.load().unwrap().is_some());
    // Half a file, as another program may leave it, is told with its name and what to do.
    std::fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    let why = store.load().unwrap_err().to_string();
    assert!(
        why.contains(&file.display().to_string()) && why.contains("remove it"),
        "{why}"
    );
    store.clear().unwrap();
    assert!(store.load().unwrap().is_none());
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test]
async fn no_page_opens_for_a_request_that_no_call_waits_for() {
    let servers = Servers::start(Quirks {
        token: json!({"refresh_token": null}),
        ..Quirks::default()
    })
    .await;
    let oauth = servers.oauth(None, LONG, open());
    oauth.sign_in(None).await.unwrap();
    let counts = servers.counts();
    let (method, url) = (Method::GET, servers.url.parse().unwrap());
    let refusal = AuthRefusal {
        request: HttpRequest {
            method: &method,
            url: &url,
        },
        protocol_version: None,
        status: StatusCode::UNAUTHORIZED,
        headers: &HeaderMap::new(),
        token: None,
        is_repeated: false,
        is_unattended: true,
    };
    assert_eq!(oauth.refused(refusal).await, RefusalFate::GiveUp(None));
    assert_eq!(servers.counts(), counts);
    // A call waits for it, and a person with the call.
    let is_unattended = false;
    let attended = AuthRefusal {
        is_unattended,
        ..refusal
    };
    assert_eq!(oauth.refused(attended).await, RefusalFate::Retry);
    assert_eq!(servers.counts(), [1, 2, 2, 0]);
}

#[tokio::test]
async fn a_hook_that_panics_costs_one_sign_in() {
    let servers = Servers::start(Quirks::default()).await;
    let panics = AtomicBool::new(true);
    let oauth = servers
        .builder(Settings::new(&servers.url), open())
        .on_request(move |_, _| assert!(!panics.swap(false, Ordering::SeqCst), "a hook panics"))
        .build();
    let client = servers.client(&oauth);
    let failed = call(&client, "hello").await.unwrap_err().to_string();
    assert!(failed.contains("the sign-in ended early"), "{failed}");
    assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
}
