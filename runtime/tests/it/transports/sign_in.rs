//! A client signs in to a guarded server, with a browser that follows redirects at once.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::{Query, Request};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Form, Json};
use mcp_revisions::auth::Settings;
use mcp_revisions::http;
use mcp_revisions::service::Client;
use mcp_revisions::service::client::{FileStore, Http, OAuth, TokenStore};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::transports::{call, client, router};

/// What the servers have seen, and which tokens are good.
#[derive(Default)]
struct Seen {
    registrations: usize,
    pages: usize,
    codes: usize,
    refreshes: usize,
    /// Tokens up to this number are refused.
    withdrawn: usize,
}

impl Seen {
    fn issue(&self) -> Value {
        let number = self.codes + self.refreshes;
        json!({"access_token": format!("s3cret-{number}"), "token_type": "Bearer", "expires_in": 3600,
            "refresh_token": format!("r3fresh-{number}")})
    }
}

struct Servers {
    url: String,
    seen: Arc<Mutex<Seen>>,
}

impl Servers {
    async fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let url = format!("{origin}/mcp");
        let seen = Arc::new(Mutex::new(Seen::default()));
        let resource = json!({"resource": url, "authorization_servers": [origin]});
        let metadata = json!({"issuer": origin, "authorization_endpoint": format!("{origin}/authorize"),
            "token_endpoint": format!("{origin}/token"), "registration_endpoint": format!("{origin}/register"),
            "code_challenge_methods_supported": ["S256"], "authorization_response_iss_parameter_supported": true});
        let document = |what: Value| get(move || async move { Json(what) });
        let registered = Arc::clone(&seen);
        let register = post(move || async move {
            registered.lock().unwrap().registrations += 1;
            (StatusCode::CREATED, Json(json!({"client_id": "client"})))
        });
        let (shown, issuer) = (Arc::clone(&seen), origin.clone());
        let authorize = get(
            move |Query(query): Query<Vec<(String, String)>>| async move {
                shown.lock().unwrap().pages += 1;
                let of = |name: &str| query.iter().find(|(one, _)| one == name).unwrap().1.clone();
                let (redirect, state) = (of("redirect_uri"), of("state"));
                let location = format!("{redirect}?code=c0de&state={state}&iss={issuer}");
                (StatusCode::FOUND, [("location", location)]).into_response()
            },
        );
        let asked = Arc::clone(&seen);
        let token = post(move |Form(form): Form<Vec<(String, String)>>| async move {
            let mut seen = asked.lock().unwrap();
            let is = |value: &str| form.contains(&("grant_type".to_owned(), value.to_owned()));
            match () {
                () if is("authorization_code") => seen.codes += 1,
                () if is("refresh_token") => seen.refreshes += 1,
                () => panic!("{form:?}"),
            }
            Json(seen.issue())
        });
        let service = router().build("guarded", "1.0.0").unwrap();
        let service = service.into_http_service(http::Options::default());
        let (guard, place) = (Arc::clone(&seen), origin.clone());
        let guarded = move |request: Request, next: Next| {
            let refusal = refusal(&guard.lock().unwrap(), request.headers(), &place);
            async move {
                match refusal {
                    Some(refusal) => refusal,
                    None => next.run(request).await,
                }
            }
        };
        let app = axum::Router::new()
            .route_service("/mcp", service)
            .layer(from_fn(guarded))
            .route(
                "/.well-known/oauth-protected-resource/mcp",
                document(resource),
            )
            .route(
                "/.well-known/oauth-authorization-server",
                document(metadata),
            )
            .route("/register", register)
            .route("/authorize", authorize)
            .route("/token", token);
        crate::support::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { url, seen }
    }

    fn counts(&self) -> [usize; 4] {
        let seen = self.seen.lock().unwrap();
        [seen.registrations, seen.pages, seen.codes, seen.refreshes]
    }

    /// A provider, whose browser opens pages once the gate is open.
    fn oauth(
        &self,
        store: Option<FileStore>,
        wait: Duration,
        gate: watch::Receiver<bool>,
    ) -> OAuth {
        let http = Http::new(&self.url).unwrap();
        let browser = move |page: &str| {
            let (page, mut gate) = (page.to_owned(), gate.clone());
            crate::support::spawn(async move {
                gate.wait_for(|is_open| *is_open).await.unwrap();
                let answer = fetch(&page).await;
                let (_, rest) = answer.split_once("location: ").unwrap();
                let after = fetch(rest.lines().next().unwrap()).await;
                assert!(
                    after.contains("200 OK") && after.contains("no-store"),
                    "{after}"
                );
            });
        };
        let builder = OAuth::builder(&http, Settings::new(&self.url), false, browser).wait(wait);
        match store {
            Some(store) => builder.store(store).build(),
            None => builder.build(),
        }
    }

    fn client(&self, oauth: &OAuth) -> Client {
        let http = Http::new(&self.url).unwrap();
        client().http(http.with_authorization(oauth.clone()))
    }
}

/// The answer to a request without a token that is good.
fn refusal(seen: &Seen, headers: &HeaderMap, origin: &str) -> Option<Response> {
    let sent = headers.get("authorization").and_then(|it| it.to_str().ok());
    let number = sent.and_then(|it| it.strip_prefix("Bearer s3cret-"));
    let number: usize = number.and_then(|it| it.parse().ok()).unwrap_or_default();
    let place = format!("{origin}/.well-known/oauth-protected-resource/mcp");
    let challenge = format!("Bearer resource_metadata=\"{place}\"");
    (number <= seen.withdrawn)
        .then(|| (StatusCode::UNAUTHORIZED, [("www-authenticate", challenge)]).into_response())
}

/// The response to a GET.
async fn fetch(url: &str) -> String {
    let rest = url.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_at(rest.find('/').unwrap());
    let mut stream = TcpStream::connect(host).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

const LONG: Duration = Duration::from_secs(60);

fn open() -> watch::Receiver<bool> {
    watch::channel(true).1
}

/// A folder of a test, which is empty.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("mcp-sign-in-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

#[tokio::test]
async fn many_calls_at_once_are_one_page_one_registration_and_one_token() {
    let servers = Servers::start().await;
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
    let servers = Servers::start().await;
    let folder = folder("shared");
    let clients: Vec<Client> = (0..5)
        .map(|_| {
            let store = FileStore::open(&folder, &[&servers.url]).unwrap();
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
    let servers = Servers::start().await;
    let client = servers.client(&servers.oauth(None, LONG, open()));
    for withdrawn in 0..6 {
        servers.seen.lock().unwrap().withdrawn = withdrawn;
        assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
        assert_eq!(servers.counts(), [1, 1, 1, withdrawn]);
    }
}

#[tokio::test]
async fn a_call_that_does_not_wait_says_where_to_sign_in_and_the_next_one_uses_it() {
    let servers = Servers::start().await;
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

#[cfg(unix)]
#[test]
fn a_store_is_for_its_owner_and_no_link_is_followed() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let folder = folder("owner");
    let store = FileStore::open(&folder, &["https://a.example/mcp"]).unwrap();
    store
        .save(&mcp_revisions::auth::StoredSignIn::default())
        .unwrap();
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
    assert!(store.load().unwrap_err().contains("644"));
    std::fs::remove_file(&file).unwrap();
    symlink("/etc/passwd", &file).unwrap();
    assert!(store.load().unwrap_err().contains("symbolic link"));
    let locked = store.try_lock().unwrap();
    assert!(store.try_lock().unwrap().is_none());
    drop(locked);
    assert!(store.try_lock().unwrap().is_some());
    std::fs::remove_dir_all(folder).unwrap();
}
