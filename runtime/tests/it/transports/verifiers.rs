//! Verifiers of access tokens over HTTP: the keys of an authorization server, and its introspection endpoint.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Json;
use axum::routing::{get, post};
use mcp_revisions::auth::Secret;
use mcp_revisions::http::{Introspection, Jwks, TokenRefusal};
use mcp_revisions::service::client::Http;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;

/// Keys and tokens of the issuer `https://auth.example`, which another library has made.
fn signed() -> Vec<&'static str> {
    include_str!("../../../auth/tests/it/jwts.txt")
        .lines()
        .collect()
}

async fn serve(app: axum::Router) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    crate::support::spawn(async move { axum::serve(listener, app).await.unwrap() });
    origin
}

#[tokio::test]
async fn keys_are_fetched_once_and_again_for_a_key_that_is_new_but_not_for_each_made_up_one() {
    let lines = signed();
    let keys: Arc<Mutex<Vec<Value>>> = Arc::default();
    let fetches = Arc::new(AtomicUsize::new(0));
    let (served, counted) = (Arc::clone(&keys), Arc::clone(&fetches));
    let app = axum::Router::new().route(
        "/keys",
        get(move || async move {
            counted.fetch_add(1, Ordering::SeqCst);
            Json(json!({"keys": *served.lock().unwrap()}))
        }),
    );
    let http = Http::new(&format!("{}/keys", serve(app).await)).unwrap();
    let jwks = Jwks::new(&http, "https://auth.example").unwrap();
    let publish = |line: &str| {
        keys.lock()
            .unwrap()
            .push(serde_json::from_str(line).unwrap())
    };
    publish(lines[0]);
    let calls: Vec<_> = (0..10)
        .map(|_| {
            let jwks = jwks.clone();
            crate::support::spawn(async move { jwks.verify(signed()[1].to_owned()).await })
        })
        .collect();
    for one in calls {
        assert_eq!(
            one.await.unwrap().unwrap().subject().as_deref(),
            Some("ada")
        );
    }
    assert_eq!(fetches.load(Ordering::SeqCst), 1);
    // The pause after a fetch is not over: keys that tokens make up cost no requests.
    publish(lines[5]);
    for _ in 0..3 {
        let refused = jwks.verify(lines[6].to_owned()).await;
        let Err(TokenRefusal::Invalid(why)) = refused else {
            panic!("{refused:?}");
        };
        assert!(why.contains("does not list"), "{why}");
    }
    assert_eq!(fetches.load(Ordering::SeqCst), 1);
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(5)).await;
    tokio::time::resume();
    assert!(jwks.verify(lines[6].to_owned()).await.is_ok());
    assert_eq!(fetches.load(Ordering::SeqCst), 2);
    // Without keys nothing is known of a token.
    let http = Http::new("http://127.0.0.1:9/keys").unwrap();
    let none = Jwks::new(&http, "https://auth.example").unwrap();
    let refused = none.verify(lines[1].to_owned()).await;
    assert!(
        matches!(refused, Err(TokenRefusal::Unavailable(_))),
        "{refused:?}"
    );
}

#[tokio::test]
async fn made_up_tokens_at_a_slow_endpoint_are_bounded_and_hold_up_no_token_that_was_active() {
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (open, gate) = watch::channel(true);
    let (now, top) = (Arc::clone(&running), Arc::clone(&most));
    let app = axum::Router::new().route(
        "/introspect",
        post(move |body: String| async move {
            let is_good = body.starts_with("token=good&");
            let count = now.fetch_add(1, Ordering::SeqCst) + 1;
            top.fetch_max(count, Ordering::SeqCst);
            if !is_good {
                let _ = gate.clone().wait_for(|is_open| *is_open).await;
            }
            now.fetch_sub(1, Ordering::SeqCst);
            Json(json!({"active": is_good, "sub": "ada"}))
        }),
    );
    let http = Http::new(&format!("{}/introspect", serve(app).await)).unwrap();
    let asked = Introspection::new(&http, "rs", Secret::from("s")).unwrap();
    assert!(asked.verify("good".to_owned()).await.is_ok());
    open.send(false).unwrap();
    let bad: Vec<_> = (0..100)
        .map(|number| {
            let asked = asked.clone();
            crate::support::spawn(async move { asked.verify(format!("bad-{number}")).await })
        })
        .collect();
    while running.load(Ordering::SeqCst) < 32 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(asked.verify("good".to_owned()).await.is_ok());
    open.send(true).unwrap();
    for one in bad {
        assert!(matches!(one.await.unwrap(), Err(TokenRefusal::Invalid(_))));
    }
    assert_eq!(most.load(Ordering::SeqCst), 33);
}
