//! Webhooks: what happens is delivered to the URL of `events/subscribe`, made of the function of its event type.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hmac_sha256::Hash;
use mcp_revisions_core::Latest;
use mcp_revisions_core::errors::{CALLBACK_ENDPOINT, FORBIDDEN, NOT_FOUND, RESOURCE_EXHAUSTED};
use mcp_revisions_core::extensions::events as ext;
use mcp_revisions_sansio::driver::server::canonical;
use mcp_revisions_sansio::driver::{millis, unguessable};
use mcp_revisions_sansio::webhooks::WebhookSecret;
use mcp_wire::{Encode, ErrorObject, Json, JsonObject, Map};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::follow::{FollowedSubscription, Subscriber};
use super::stream::of_params;
use super::{EventSource, now_ms, timestamp, with_data};
use crate::service::{Error, RequestContext};
use crate::transport::observe;
use crate::transport::panics::lock;
use crate::transport::spawn::{Boxed, boxed, later, spawn};

/// Number of times that a delivery is sent.
const ATTEMPTS: u32 = 5;
/// The pause behind the first attempt; each that follows is four times as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// Maximum time of a request.
const REQUEST_TIME: Duration = Duration::from_secs(10);
/// Time in which a principal cannot have a host asked again that has not repeated a challenge.
const RETRY_TIME: Duration = Duration::from_secs(10);
/// Maximum size of a delivery.
const DELIVERY_BYTES: usize = 256 << 10;
/// Maximum size of the params of a subscription, which are kept.
const SUBSCRIPTION_BYTES: usize = 16 << 10;
/// Maximum number of requests to webhooks at a time.
const REQUESTS: usize = 64;
/// Time in which deliveries are signed by the secret before the last, too.
const OLD_SECRET_TIME: Duration = Duration::from_secs(60);
/// The shortest and the longest time of a subscription, unless the server has others.
const TTL: (Duration, Duration) = (Duration::from_secs(60), Duration::from_secs(3600));

/// The addresses that webhooks may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WebhookAddresses {
    /// Addresses of the public internet only.
    Public,
    /// Those, and those of private networks and of this machine. Addresses of the link and of cloud metadata are never allowed.
    Private,
}

/// A POST request to a webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookPost {
    /// The URL, of an allowed host.
    pub url: String,
    /// The headers, names in lower case.
    pub headers: Vec<(&'static str, String)>,
    /// The body, which is signed as it is.
    pub body: String,
}

/// The response of a webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookReply {
    /// The status. Redirects are failures.
    pub status: u16,
    /// The body, or its beginning; empty if it was not read.
    pub body: Vec<u8>,
}

/// The reason why a webhook has not responded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the extension")]
pub enum WebhookFailure {
    ConnectionRefused,
    Timeout,
    TlsError,
}

type PostFunction =
    dyn Fn(WebhookPost) -> Boxed<'static, Result<WebhookReply, WebhookFailure>> + Send + Sync;

/// The webhooks of a server: which hosts may have them, and how they are reached.
///
/// A subscription needs an authenticated principal. Its URL begins with `https://`, and has to repeat a challenge before
/// anything is delivered. Events are delivered one by one, in order; one that is refused is sent up to five times in 85 seconds, and
/// then given up: with a line at `warn`, and counted in `mcp_revisions_dropped_messages_total`. Subscriptions are kept in memory
/// until their time is over, and end with the server; clients renew them with their last cursor.
#[must_use]
pub struct Webhooks {
    hosts: Vec<String>,
    longest: Duration,
    most: usize,
    sender: Arc<WebhookSender>,
    open: Mutex<HashMap<String, OpenWebhook>>,
    /// The principals and hosts of challenges that were not repeated lately.
    refused: Mutex<HashMap<(String, String), Instant>>,
}

/// Sends requests to webhooks.
struct WebhookSender {
    post: Box<PostFunction>,
    permits: Semaphore,
}

/// The subscription of a webhook. Dropping it ends the deliveries.
struct OpenWebhook {
    principal: String,
    url: String,
    settings: watch::Sender<WebhookSettings>,
    status: Arc<Mutex<WebhookStatus>>,
    task: JoinHandle<()>,
}

impl Drop for OpenWebhook {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What a client sets each time that it renews a subscription.
struct WebhookSettings {
    secret: WebhookSecret,
    /// The secret before it, and until when it signs, too.
    old_secret: Option<(WebhookSecret, Instant)>,
    until: Instant,
    cx: RequestContext<Latest>,
}

/// How far the deliveries of a subscription are.
#[derive(Default)]
struct WebhookStatus {
    /// The position up to which every event was delivered or given up.
    position: String,
    delivered_at: Option<i64>,
    failed_since: Option<i64>,
    error: Option<&'static str>,
}

impl Webhooks {
    /// Creates webhooks at these hosts, which `post` sends requests to. A host is `hooks.example.com` with port 443,
    /// `hooks.example.com:8443`, `*.example.com` for all below it, or `*` for every host. `post` has to check the address that a name
    /// resolves to, has 10 seconds, and must not follow redirects: `over_http` does both.
    pub fn new<H: Into<String>, A>(
        hosts: impl IntoIterator<Item = H>,
        post: impl Fn(WebhookPost) -> A + Send + Sync + 'static,
    ) -> Self
    where
        A: Future<Output = Result<WebhookReply, WebhookFailure>> + Send + 'static,
    {
        let hosts = hosts
            .into_iter()
            .map(|host| host.into().to_ascii_lowercase());
        Self {
            hosts: hosts.collect(),
            longest: TTL.1,
            most: 1000,
            sender: Arc::new(WebhookSender {
                post: Box::new(move |request| boxed(post(request))),
                permits: Semaphore::new(REQUESTS),
            }),
            open: Mutex::default(),
            refused: Mutex::default(),
        }
    }

    /// Sets the longest time of a subscription, at least a minute; one hour by default.
    pub fn with_max_ttl(mut self, time: Duration) -> Self {
        self.longest = time.max(TTL.0);
        self
    }

    /// Sets the maximum number of subscriptions, 1000 by default. A principal has at most a quarter of them.
    pub fn with_max_subscriptions(mut self, most: usize) -> Self {
        self.most = most;
        self
    }

    /// Subscribes a webhook, or renews its subscription.
    pub(super) async fn subscribe(
        &self,
        source: &Arc<EventSource>,
        params: ext::SubscribeEventsRequestParams,
        cx: &RequestContext<Latest>,
    ) -> Result<ext::SubscribeEventsResult, Error> {
        let principal = principal(cx)?;
        let url = params.delivery.url;
        let host = self.check_url(&url)?;
        let secret = WebhookSecret::from_text(&params.delivery.secret).ok_or_else(|| {
            let why = "`delivery.secret`: expected `whsec_` and 24 to 64 bytes in base64";
            Error::InvalidParams(why.to_owned())
        })?;
        if cx.params().text().len() > SUBSCRIPTION_BYTES {
            return Err(exhausted("bytes", SUBSCRIPTION_BYTES));
        }
        let id = id_of(&principal, &url, &params.name, params.arguments.as_ref());
        let wanted = params.ttl_ms.flatten().and_then(|ms| ms.as_u64());
        let time = wanted
            .map_or(self.longest, Duration::from_millis)
            .clamp(TTL.0, self.longest);
        let settings = WebhookSettings {
            secret: secret.clone(),
            old_secret: None,
            until: later(Instant::now(), time),
            cx: cx.answered(),
        };
        let end = timestamp(now_ms().saturating_add(millis(time)));
        let result = ext::SubscribeEventsResult::new(&*id, Some(end)).with_truncated(false);
        let settings = match self.renew(&id, settings) {
            Ok(status) => {
                let status = lock(&status);
                return Ok(result
                    .with_cursor(Some(status.position.clone()))
                    .with_delivery_status(status.as_result()));
            }
            Err(settings) => settings,
        };
        let is_verified = self.has_room(&mut lock(&self.open), &principal, &url)?;
        let mut poll = ext::PollEventsRequestParams::new(params.name);
        poll.arguments = params.arguments;
        poll.cursor = params.cursor;
        poll.max_age_ms = params.max_age_ms;
        poll.meta = params.meta;
        let subscription = FollowedSubscription::begin(source, poll, cx).await?;
        let is_gap = subscription.batch.truncated == Some(true);
        let position = subscription.position.clone();
        let webhook = WebhookTarget {
            id: id.clone(),
            url: url.clone(),
        };
        if !is_verified {
            self.verify((principal.clone(), host), &webhook, &secret)
                .await?;
        }
        let mut open = lock(&self.open);
        self.has_room(&mut open, &principal, &url)?;
        let (settings, renewed) = watch::channel(settings);
        let status = Arc::new(Mutex::new(WebhookStatus {
            position: position.clone(),
            ..WebhookStatus::default()
        }));
        let mut deliveries = Deliveries {
            webhook,
            sender: Arc::clone(&self.sender),
            settings: renewed.clone(),
            status: Arc::clone(&status),
        };
        let source = Arc::clone(source);
        let task = spawn(async move {
            tokio::select! {
                // A webhook has no client that leaves.
                _ = subscription.follow(&source, &mut deliveries) => {}
                () = expired(renewed) => {}
            }
        });
        open.insert(
            id,
            OpenWebhook {
                principal,
                url,
                settings,
                status,
                task,
            },
        );
        Ok(result.with_cursor(Some(position)).with_truncated(is_gap))
    }

    /// Ends the subscription of a webhook.
    pub(super) fn unsubscribe(
        &self,
        params: &ext::UnsubscribeEventsRequestParams,
        cx: &RequestContext<Latest>,
    ) -> Result<ext::UnsubscribeEventsResult, Error> {
        let principal = principal(cx)?;
        let arguments = params.arguments.as_ref();
        let id = id_of(&principal, &params.delivery.url, &params.name, arguments);
        let ended = lock(&self.open).remove(&id);
        match ended.filter(|one| !one.task.is_finished()) {
            Some(_) => Ok(ext::UnsubscribeEventsResult::new()),
            None => {
                let why = "the webhook has no subscription with this name and these arguments";
                Err(with_data(NOT_FOUND, why, [("kind", "subscription")]))
            }
        }
    }

    /// Asks a webhook whether it wants deliveries, unless its host did not for the principal a moment ago.
    async fn verify(
        &self,
        place: (String, String),
        webhook: &WebhookTarget,
        secret: &WebhookSecret,
    ) -> Result<(), Error> {
        let is_refused = {
            let mut refused = lock(&self.refused);
            refused.retain(|_, at| at.elapsed() < RETRY_TIME);
            refused.contains_key(&place) || refused.len() >= self.most
        };
        if is_refused {
            let why = "the host has not repeated a challenge: subscribe again in 10 seconds";
            return Err(with_data(
                RESOURCE_EXHAUSTED,
                why,
                [("limit", "verifications")],
            ));
        }
        let verified = self.sender.verify(webhook, secret).await;
        if verified.is_err() {
            lock(&self.refused).insert(place, Instant::now());
        }
        verified
    }

    /// Checks that a URL is one of `https` at an allowed host, and returns the host.
    fn check_url(&self, url: &str) -> Result<String, Error> {
        let invalid = |why: &str| Error::InvalidParams(format!("`delivery.url`: {why}"));
        let rest = url
            .strip_prefix("https://")
            .filter(|_| url.bytes().all(|it| it.is_ascii_graphic()))
            .ok_or_else(|| invalid("expected https:// and visible ASCII"))?;
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let is_plain = |it: u8| it.is_ascii_alphanumeric() || b"-._:[]".contains(&it);
        if authority.is_empty() || !authority.bytes().all(is_plain) || rest.contains('#') {
            return Err(invalid(
                "expected a host, and neither a user nor a fragment",
            ));
        }
        let named = authority.strip_suffix(":443").unwrap_or(authority);
        let host = named.to_ascii_lowercase();
        let is_allowed = self
            .hosts
            .iter()
            .any(|allowed| match allowed.strip_prefix('*') {
                Some("") => !host
                    .trim_end_matches(|it: char| it.is_ascii_digit())
                    .ends_with(':'),
                Some(domain) => host.len() > domain.len() && host.ends_with(domain),
                None => host == *allowed,
            });
        is_allowed
            .then_some(host)
            .ok_or_else(|| invalid("this server does not deliver to the host"))
    }

    /// Renews a subscription, and returns its status. Returns the settings if there is none.
    fn renew(
        &self,
        id: &str,
        mut settings: WebhookSettings,
    ) -> Result<Arc<Mutex<WebhookStatus>>, WebhookSettings> {
        let open = lock(&self.open);
        let Some(webhook) = open.get(id).filter(|it| !it.task.is_finished()) else {
            return Err(settings);
        };
        webhook.settings.send_modify(|before| {
            let old = (before.secret != settings.secret)
                .then(|| (before.secret.clone(), Instant::now() + OLD_SECRET_TIME));
            settings.old_secret = old.or(before.old_secret.take());
            *before = settings;
        });
        Ok(Arc::clone(&webhook.status))
    }

    /// Returns whether the principal has another subscription at this URL, which was verified for it.
    ///
    /// # Errors
    /// Returns an error if the server or the principal has as many subscriptions as it may.
    fn has_room(
        &self,
        open: &mut HashMap<String, OpenWebhook>,
        principal: &str,
        url: &str,
    ) -> Result<bool, Error> {
        open.retain(|_, webhook| !webhook.task.is_finished());
        let own = || open.values().filter(|it| it.principal == principal);
        let most = self.most.div_ceil(4);
        for (count, most) in [(open.len(), self.most), (own().count(), most)] {
            if count >= most {
                return Err(exhausted("subscriptions", most));
            }
        }
        Ok(own().any(|it| it.url == url))
    }
}

/// The URL of a webhook, and the id of its subscription.
struct WebhookTarget {
    id: String,
    url: String,
}

impl WebhookSender {
    /// Sends a message once, signed by these secrets as of now.
    async fn send(
        &self,
        webhook: &WebhookTarget,
        secrets: &[WebhookSecret],
        message: &str,
        body: &str,
    ) -> Result<WebhookReply, WebhookFailure> {
        // The time of a signature is that of its request.
        let _permit = self.permits.acquire().await;
        let time = u64::try_from(now_ms() / 1000).unwrap_or_default();
        let sign = |secret: &WebhookSecret| secret.sign(message, time, body.as_bytes());
        let signatures: Vec<String> = secrets.iter().map(sign).collect();
        let sent = (self.post)(WebhookPost {
            url: webhook.url.clone(),
            headers: vec![
                ("content-type", "application/json".to_owned()),
                ("webhook-id", message.to_owned()),
                ("webhook-timestamp", time.to_string()),
                ("webhook-signature", signatures.join(" ")),
                ("x-mcp-subscription-id", webhook.id.clone()),
            ],
            body: body.to_owned(),
        });
        let sent = tokio::time::timeout(REQUEST_TIME, sent).await;
        sent.unwrap_or(Err(WebhookFailure::Timeout))
    }

    /// Asks a webhook whether it wants deliveries.
    ///
    /// # Errors
    /// Returns an error if it does not say so.
    async fn verify(&self, webhook: &WebhookTarget, secret: &WebhookSecret) -> Result<(), Error> {
        let challenge = random()?;
        let body = Json::of(&ext::WebhookVerification::new(&*challenge));
        let message = format!("msg_verification_{}", random()?);
        let secrets = std::slice::from_ref(secret);
        let sent = self.send(webhook, secrets, &message, body.text()).await;
        let reason = match sent {
            Ok(reply) => {
                let members = mcp_wire::from_slice::<Map<Json>>(&reply.body).unwrap_or_default();
                let answer = members.get("challenge").and_then(|it| it.as_str());
                // The time of the comparison of digests tells nothing of the challenge.
                let is_own = answer.is_some_and(|it| {
                    Hash::hash(it.as_bytes()) == Hash::hash(challenge.as_bytes())
                });
                if is_own && status_error(reply.status).is_none() {
                    return Ok(());
                }
                "challenge_failed"
            }
            Err(failure) => failure.as_str(),
        };
        let why = format!("the webhook has not repeated its challenge: {reason}");
        Err(with_data(CALLBACK_ENDPOINT, why, [("reason", reason)]))
    }
}

/// The deliveries of a subscription.
struct Deliveries {
    webhook: WebhookTarget,
    sender: Arc<WebhookSender>,
    settings: watch::Receiver<WebhookSettings>,
    status: Arc<Mutex<WebhookStatus>>,
}

impl Deliveries {
    /// Sends a message until it is taken, or gives it up.
    async fn deliver(&self, message: &str, body: &Json) {
        let delivered = if body.text().len() > DELIVERY_BYTES {
            Err("longer than 256 KiB")
        } else {
            self.attempts(message, body.text()).await
        };
        if let Err(why) = delivered {
            observe::delivery_dropped(&self.webhook.id, message, why);
        }
    }

    async fn attempts(&self, message: &str, body: &str) -> Result<(), &'static str> {
        let mut pause = FIRST_PAUSE;
        for attempt in 1.. {
            let secrets = self.settings.borrow().secrets();
            let sent = self
                .sender
                .send(&self.webhook, &secrets, message, body)
                .await;
            let (status, why) = match sent {
                Ok(reply) => (reply.status, status_error(reply.status)),
                Err(failure) => (0, Some(failure.as_str())),
            };
            lock(&self.status).note(why);
            let Some(why) = why else { return Ok(()) };
            // Gone, and too large: the webhook does not want this message.
            if attempt == ATTEMPTS || matches!(status, 410 | 413) {
                return Err(why);
            }
            tokio::time::sleep(pause).await;
            pause *= 4;
        }
        Ok(())
    }

    /// Delivers what is not an event.
    async fn control(&self, kind: &str, body: &impl Encode) -> Result<(), Error> {
        let message = format!("msg_{kind}_{}", random()?);
        self.deliver(&message, &Json::of(body)).await;
        Ok(())
    }
}

impl Subscriber for Deliveries {
    fn context(&self) -> RequestContext<Latest> {
        self.settings.borrow().cx.clone()
    }

    async fn open(&mut self, position: &str, _: bool) -> Result<(), Error> {
        let gap = ext::WebhookGap::new().with_cursor(Some(position.to_owned()));
        self.control("gap", &gap).await
    }

    async fn send(&mut self, event: ext::EventOccurrence, position: &str) -> Result<(), Error> {
        self.deliver(&event.event_id, &Json::of(&event)).await;
        position.clone_into(&mut lock(&self.status).position);
        Ok(())
    }

    async fn wait(
        &mut self,
        time: Duration,
        woken: Option<&mut watch::Receiver<()>>,
        position: &str,
    ) -> Result<(), Error> {
        position.clone_into(&mut lock(&self.status).position);
        let is_woken = async {
            match woken {
                Some(woken) => drop(woken.changed().await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = is_woken => {}
            () = tokio::time::sleep_until(later(Instant::now(), time)) => {}
        }
        Ok(())
    }

    /// Does nothing: the next look may succeed.
    async fn fail(&mut self, _: ErrorObject) -> Result<(), Error> {
        Ok(())
    }

    async fn end(&mut self, error: ErrorObject) -> Result<(), Error> {
        let ended = ext::WebhookTerminated::new(of_params(&error)?);
        self.control("terminated", &ended).await
    }
}

impl WebhookSettings {
    /// Returns the secrets that sign now.
    fn secrets(&self) -> Vec<WebhookSecret> {
        let old = self
            .old_secret
            .iter()
            .filter(|(_, until)| *until > Instant::now());
        let all = std::iter::once(&self.secret).chain(old.map(|(secret, _)| secret));
        all.cloned().collect()
    }
}

impl WebhookStatus {
    /// Notes an attempt, and why it failed.
    fn note(&mut self, error: Option<&'static str>) {
        self.error = error;
        match error {
            Some(_) => drop(self.failed_since.get_or_insert_with(now_ms)),
            None => (self.failed_since, self.delivered_at) = (None, Some(now_ms())),
        }
    }

    fn as_result(&self) -> ext::DeliveryStatus {
        let mut status = ext::DeliveryStatus::new(true)
            .with_last_delivery_at(self.delivered_at.map(timestamp))
            .with_last_error(self.error.map(str::to_owned));
        status.failed_since = self.failed_since.map(timestamp);
        status
    }
}

impl WebhookFailure {
    /// Returns its name in the extension.
    fn as_str(self) -> &'static str {
        match self {
            Self::ConnectionRefused => "connection_refused",
            Self::Timeout => "timeout",
            Self::TlsError => "tls_error",
        }
    }
}

/// Returns the name of the error that a status is; `None` for success.
fn status_error(status: u16) -> Option<&'static str> {
    match status {
        200..300 => None,
        500.. => Some("http_5xx"),
        _ => Some("http_4xx"),
    }
}

/// Waits until the time of a subscription is over, as it was last renewed.
async fn expired(mut settings: watch::Receiver<WebhookSettings>) {
    loop {
        let until = settings.borrow_and_update().until;
        tokio::select! {
            () = tokio::time::sleep_until(until) => return,
            changed = settings.changed() => if changed.is_err() { return },
        }
    }
}

/// Returns the principal of a request.
///
/// # Errors
/// Returns an error for a request without one.
fn principal(cx: &RequestContext<Latest>) -> Result<String, Error> {
    let principal = cx.principal().map(|it| it.0);
    principal.ok_or_else(|| {
        let why = "webhooks need an authenticated client: send the request with credentials";
        Error::application(FORBIDDEN, why)
    })
}

/// Returns the id of the subscription with this key.
fn id_of(principal: &str, url: &str, name: &str, arguments: Option<&JsonObject>) -> String {
    let mut key = format!("{} {} {principal}{url}", principal.len(), url.len());
    canonical(&Json::of(name), &mut key);
    canonical(
        &arguments.map_or_else(|| Json::of(&JsonObject::new()), Json::of),
        &mut key,
    );
    let mut id = "sub_".to_owned();
    for byte in Hash::hash(key.as_bytes()).iter().take(16) {
        let _ = write!(id, "{byte:02x}");
    }
    id
}

fn random() -> Result<Arc<str>, Error> {
    unguessable().ok_or_else(|| Error::internal("the system has no randomness"))
}

fn exhausted(limit: &str, most: usize) -> Error {
    let data = [
        ("limit", Json::of(limit)),
        ("max", Json::of(&i64::try_from(most).unwrap_or(i64::MAX))),
    ];
    with_data(
        RESOURCE_EXHAUSTED,
        format!("the limit of {limit} is {most}"),
        data,
    )
}
