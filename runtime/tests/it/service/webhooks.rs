//! Webhooks of events: challenges, signed deliveries, repetitions, renewals, and the refusals of subscriptions.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http_body_util::Full;
use mcp_revisions::args::Url;
use mcp_revisions::core::errors::{
    CALLBACK_ENDPOINT, FORBIDDEN, NOT_FOUND, RESOURCE_EXHAUSTED, UNSUPPORTED,
};
use mcp_revisions::core::extensions::events::{self as ext, CallServer as _};
use mcp_revisions::http::{Options, Principal};
use mcp_revisions::mcp_wire::{Json, JsonObject};
use mcp_revisions::service::client::Http;
use mcp_revisions::service::client::events::{Delivery, WebhookSecret};
use mcp_revisions::service::router::events::{WebhookFailure, WebhookPost, WebhookReply, Webhooks};
use mcp_revisions::service::{Client, Router};
use serde_json::{Value, json};
use tokio::time::Instant;
use tower::ServiceExt as _;
use tracing_subscriber::layer::SubscriberExt as _;

use crate::service::events::{Log, ORDERS, code, events};
use crate::service::trace::Lines;

const URL: &str = "https://hooks.example.com/ada";

/// An endpoint for deliveries, which answers by its list of statuses, and with 200 behind it.
#[derive(Clone, Default)]
struct Hook(Arc<Mutex<HookState>>);

#[derive(Default)]
struct HookState {
    posts: Vec<(Instant, WebhookPost)>,
    statuses: VecDeque<u16>,
    /// Set if challenges are not repeated.
    is_deaf: bool,
}

impl Hook {
    fn webhooks(&self) -> Webhooks {
        let hook = self.clone();
        Webhooks::new(["hooks.example.com", "*.example.org:8443"], move |post| {
            std::future::ready(hook.take(post))
        })
    }

    fn take(&self, post: WebhookPost) -> Result<WebhookReply, WebhookFailure> {
        let mut state = self.0.lock().unwrap();
        let body: Value = serde_json::from_str(&post.body).unwrap();
        let status = state.statuses.pop_front().unwrap_or(200);
        let answer = match body["challenge"].as_str() {
            Some(challenge) if !state.is_deaf => json!({ "challenge": challenge }),
            _ => json!({ "challenge": "none" }),
        };
        state.posts.push((Instant::now(), post));
        match status {
            0 => Err(WebhookFailure::Timeout),
            _ => Ok(WebhookReply {
                status,
                body: answer.to_string().into_bytes(),
            }),
        }
    }

    fn answer(&self, statuses: impl IntoIterator<Item = u16>) {
        self.0.lock().unwrap().statuses.extend(statuses);
    }

    /// Takes the requests so far: for each the second at which it came, its id, and its body. All are signed by these secrets.
    fn posts(&self, start: Instant, secrets: &[&WebhookSecret]) -> Vec<(u64, String, Value)> {
        let posts = std::mem::take(&mut self.0.lock().unwrap().posts);
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let posts = posts.into_iter().map(|(at, post)| {
            let header = |name: &str| {
                let mut headers = post.headers.iter();
                headers.find(|(own, _)| *own == name).unwrap().1.clone()
            };
            let (id, timestamp) = (header("webhook-id"), header("webhook-timestamp"));
            let signature = header("webhook-signature");
            assert_eq!(signature.split(' ').count(), secrets.len());
            for secret in secrets {
                let delivery = Delivery {
                    id: &id,
                    timestamp: &timestamp,
                    signature: &signature,
                    body: post.body.as_bytes(),
                };
                let verified = secret.verify(&delivery, now.as_ref().unwrap().as_secs());
                assert_eq!(verified, Ok(()));
            }
            assert!(header("x-mcp-subscription-id").starts_with("sub_"));
            let body = serde_json::from_str(&post.body).unwrap();
            ((at - start).as_secs(), id, body)
        });
        posts.collect()
    }
}

/// Returns a client of a server with these events, for each of these principals.
fn clients<const N: usize>(
    log: &Arc<Log>,
    webhooks: Webhooks,
    names: [Option<&'static str>; N],
) -> [Client; N] {
    let router = Router::new().events(events(log).with_webhooks(webhooks));
    let service = router.build("shop", "1").unwrap();
    let service = service.into_http_service(Options::default());
    names.map(|name| {
        let named = service
            .clone()
            .map_request(move |mut request: http::Request<Full<Bytes>>| {
                if let Some(name) = name {
                    request.extensions_mut().insert(Principal(name.to_owned()));
                }
                request
            });
        let client = Client::builder(&mcp_revisions::program!()).with_custom_methods();
        client.http(Http::in_process(named))
    })
}

fn subscribe(url: &'static str, secret: &str) -> ext::SubscribeEventsRequestParams {
    let hook = ext::WebhookDelivery::new(Url(url), secret);
    ext::SubscribeEventsRequestParams::new(ORDERS, hook)
}

fn unsubscribe() -> ext::UnsubscribeEventsRequestParams {
    ext::UnsubscribeEventsRequestParams::new(ORDERS, ext::WebhookAddress::new(URL))
}

fn position(result: &ext::SubscribeEventsResult) -> Option<&str> {
    result.cursor.as_ref()?.as_deref()
}

#[tokio::test(start_paused = true)]
async fn deliveries_are_signed_in_order_repeated_with_growing_pauses_and_given_up() {
    let (log, hook, secret) = (
        Log::of(3),
        Hook::default(),
        WebhookSecret::random().unwrap(),
    );
    let lines = Lines::new("a message to a webhook was given up", "id");
    let subscriber = tracing_subscriber::registry().with(lines.clone());
    let _guard = tracing::subscriber::set_default(subscriber);
    let [client] = clients(&log, hook.webhooks(), [Some("ada")]);
    let listed = client.list_all_events().await.unwrap();
    assert!(listed[0].delivery.contains(&ext::DeliveryMode::Webhook));
    let start = Instant::now();
    let mine = || subscribe(URL, &secret.expose()).with_cursor(Some("0".to_owned()));
    hook.answer([200, 500, 0, 200]);
    let result = client.subscribe_events(mine()).await.unwrap();
    // Nothing is delivered yet.
    assert_eq!(
        (position(&result), result.truncated),
        (Some("0"), Some(false))
    );
    tokio::time::sleep(Duration::from_secs(20)).await;
    let posts = hook.posts(start, &[&secret]);
    let id = |number: u64| format!("order-{number}");
    assert_eq!(posts[0].2["type"], "verification");
    assert!(
        posts[0].1.starts_with("msg_verification_"),
        "{}",
        posts[0].1
    );
    let seen: Vec<_> = posts[1..]
        .iter()
        .map(|(at, id, _)| (*at, id.clone()))
        .collect();
    let expected = [(0, 0), (1, 0), (5, 0), (5, 1), (5, 2)].map(|(at, number)| (at, id(number)));
    assert_eq!(seen, expected);
    for (_, id, body) in &posts[1..] {
        assert_eq!(body["eventId"], **id);
        let behind = body["data"]["number"].as_u64().unwrap() + 1;
        assert_eq!(body["cursor"], behind.to_string());
    }
    // One that fails five times is given up, one that is gone is not repeated, and the next ones come.
    hook.answer([500, 302, 500, 500, 500, 410]);
    log.add(3, 0);
    let start = Instant::now();
    tokio::time::sleep(Duration::from_secs(30)).await;
    let renewed = client.subscribe_events(mine()).await.unwrap();
    let status = renewed.delivery_status.as_ref().unwrap();
    assert_eq!(status.last_error, Some(Some("http_5xx".to_owned())));
    assert!(status.failed_since.is_some());
    assert_eq!((position(&renewed), &renewed.id), (Some("3"), &result.id));
    tokio::time::sleep(Duration::from_secs(60)).await;
    let seen: Vec<_> = hook.posts(start, &[&secret]);
    let seen: Vec<_> = seen.iter().map(|(at, id, _)| (*at, id.clone())).collect();
    let expected = [(0, 3), (1, 3), (5, 3), (21, 3), (85, 3), (85, 4), (85, 5)];
    assert_eq!(seen, expected.map(|(at, number)| (at, id(number))));
    let renewed = client.subscribe_events(mine()).await.unwrap();
    assert_eq!(position(&renewed), Some("6"));
    assert_eq!(renewed.delivery_status.unwrap().last_error, Some(None));
    assert_eq!(*lines.values.lock().unwrap(), [id(3), id(4)]);
    // A gap is told, and so is the end.
    log.forgotten.store(7, std::sync::atomic::Ordering::Relaxed);
    log.add(2, 0);
    tokio::time::sleep(Duration::from_secs(1)).await;
    *log.is_forbidden.lock().unwrap() = true;
    log.signal.wake();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let posts = hook.posts(start, &[&secret]);
    let kinds: Vec<_> = posts.iter().map(|(_, _, body)| &body["type"]).collect();
    assert_eq!(kinds, [&json!("gap"), &Value::Null, &json!("terminated")]);
    assert_eq!(posts[2].2["error"]["code"], FORBIDDEN);
    let ended = client.unsubscribe_events(unsubscribe()).await;
    assert_eq!(code(&ended.unwrap_err()), Some(NOT_FOUND));
}

#[tokio::test(start_paused = true)]
async fn a_subscription_ends_with_its_time_its_client_and_its_server() {
    let (log, hook) = (Log::of(0), Hook::default());
    let [old, new] = [(); 2].map(|()| WebhookSecret::random().unwrap());
    let [ada, eve] = clients(&log, hook.webhooks(), [Some("ada"), Some("eve")]);
    let minutes = |minutes: i64| Some((minutes * 60_000).into());
    let with = |secret: &WebhookSecret| subscribe(URL, &secret.expose()).with_ttl_ms(minutes(2));
    let posts = async |secrets: &[&WebhookSecret]| {
        log.add(1, 0);
        tokio::time::sleep(Duration::from_secs(1)).await;
        hook.posts(Instant::now(), secrets).len()
    };
    ada.subscribe_events(with(&old)).await.unwrap();
    // The challenge, and an event.
    assert_eq!(posts(&[&old]).await, 2);
    tokio::time::sleep(Duration::from_secs(100)).await;
    ada.subscribe_events(with(&new)).await.unwrap();
    // The receiver may know either secret for a minute.
    assert_eq!(posts(&[&new, &old]).await, 1);
    tokio::time::sleep(Duration::from_secs(100)).await;
    assert_eq!(posts(&[&new]).await, 1);
    // Another principal cannot end the subscription, which ends once its time is over.
    let refused = eve.unsubscribe_events(unsubscribe()).await.unwrap_err();
    assert_eq!(code(&refused), Some(NOT_FOUND));
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert_eq!(posts(&[]).await, 0);
    // Without an end it lasts an hour.
    let endless = subscribe(URL, &new.expose()).with_ttl_ms(None);
    assert!(
        ada.subscribe_events(endless.clone())
            .await
            .unwrap()
            .refresh_before
            .is_some()
    );
    assert_eq!(posts(&[&new]).await, 2);
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert_eq!(posts(&[]).await, 0);
    ada.subscribe_events(endless.clone()).await.unwrap();
    assert_eq!(posts(&[&new]).await, 2);
    ada.unsubscribe_events(unsubscribe()).await.unwrap();
    assert_eq!(posts(&[]).await, 0);
    ada.subscribe_events(endless).await.unwrap();
    assert_eq!(posts(&[&new]).await, 2);
    for client in [ada, eve] {
        client.close().await.unwrap();
    }
    assert_eq!(posts(&[]).await, 0, "the server is gone");
}

#[tokio::test(start_paused = true)]
async fn webhooks_are_refused_before_anything_is_sent_to_them() {
    let (log, hook, secret) = (
        Log::of(0),
        Hook::default(),
        WebhookSecret::random().unwrap(),
    );
    let text = &*secret.expose();
    let webhooks = hook.webhooks().with_max_subscriptions(8);
    let [ada, nobody] = clients(&log, webhooks, [Some("ada"), None]);
    let refused = async |client: &Client, params| {
        code(&client.subscribe_events(params).await.unwrap_err()).unwrap()
    };
    assert_eq!(refused(&nobody, subscribe(URL, text)).await, FORBIDDEN);
    for url in [
        "http://hooks.example.com/",
        "https://hooks.example.com:8443/",
        "https://hooks.example.com.evil.example/",
        "https://evil.example/hooks.example.com",
        "https://hooks.example.com@evil.example/",
        "https://evil.example\\@hooks.example.com/",
        "https://evil.example#.example.org:8443/",
        "https://.example.org:8443/",
        "https://a.example.org/",
        "https:///hooks.example.com",
        "https://hooks.example.com/a b",
    ] {
        assert_eq!(refused(&ada, subscribe(url, text)).await, -32602, "{url}");
    }
    for secret in ["", "whsec_", "whsec_c2hvcnQ=", &text[6..], "whsec_?"] {
        assert_eq!(
            refused(&ada, subscribe(URL, secret)).await,
            -32602,
            "{secret}"
        );
    }
    assert!(hook.posts(Instant::now(), &[]).is_empty());
    hook.0.lock().unwrap().is_deaf = true;
    let why = ada
        .subscribe_events(subscribe(URL, text))
        .await
        .unwrap_err();
    assert_eq!(code(&why), Some(CALLBACK_ENDPOINT));
    // The host is left alone for a while, and nothing is delivered.
    let other = || subscribe("https://hooks.example.com/eve", text);
    assert_eq!(refused(&ada, other()).await, RESOURCE_EXHAUSTED);
    log.add(1, 0);
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(hook.posts(Instant::now(), &[&secret]).len(), 1);
    hook.0.lock().unwrap().is_deaf = false;
    // A URL is verified once, for all that a principal has there, of which there is a limit.
    for url in [
        URL,
        "https://A.example.org:8443/",
        "https://HOOKS.example.com:443",
    ] {
        let done = ada.subscribe_events(subscribe(url, text)).await;
        let expected = (url.contains("HOOKS")).then_some(RESOURCE_EXHAUSTED);
        assert_eq!(done.err().and_then(|error| code(&error)), expected, "{url}");
    }
    assert_eq!(hook.posts(Instant::now(), &[&secret]).len(), 2);
    ada.unsubscribe_events(unsubscribe()).await.unwrap();
    let arguments = Json::from(json!({ "region": "eu" }));
    let arguments: JsonObject = arguments.try_into().unwrap();
    let more = subscribe("https://A.example.org:8443/", text).with_arguments(arguments);
    ada.subscribe_events(more).await.unwrap();
    assert!(hook.posts(Instant::now(), &[]).is_empty());
    let plain = Client::builder(&mcp_revisions::program!()).with_custom_methods();
    let plain = Router::new()
        .events(events(&log))
        .build("shop", "1")
        .unwrap()
        .client(plain);
    assert_eq!(refused(&plain, subscribe(URL, text)).await, UNSUPPORTED);
}
