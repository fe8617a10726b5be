//! The backplane of several processes, in a Redis server: a hash per session, a stream of its events, and publish/subscribe.

mod events;
#[cfg(feature = "ext-tasks")]
mod tasks;

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{
    Client, Cmd, ConnectionInfo, IntoConnectionInfo, ProtocolVersion, PushInfo, PushKind, Value,
};
use tokio::runtime::Handle as Runtime;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use events::{APPENDS, Append, Fields, Sizes, of_fields, without_gaps};

use super::receivers::{Receivers, fresh_address};
use super::{Backplane, EventId, KeptEvent, Receiver, Reply, SessionRecord, To, Unavailable};
use crate::protocol::server::Owner;
use crate::transport::panics::lock;
use crate::transport::spawn::{Boxed, boxed, spawn};

/// A backplane in a Redis server, version 7 or newer; clones are one.
///
/// All replicas name the same server, and only they may reach it: it carries requests with their headers, and a program
/// that can write to it can speak for any client. While it cannot be reached, requests of sessions get status 503.
///
/// ```no_run
/// use mcp_revisions::backplane::Redis;
/// use mcp_revisions::http::Options;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let backplane = Redis::connect("redis://127.0.0.1/").await?;
/// let options = Options::new().with_backplane(backplane);
/// # drop(options);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Redis(Arc<Handle>);

/// What ends with the last clone of the backplane.
struct Handle {
    shared: Arc<Shared>,
    /// Where commands run that are not waited for.
    runtime: Runtime,
    tasks: Vec<AbortHandle>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

struct Shared {
    connection: ConnectionManager,
    /// What all keys and channels begin with.
    prefix: String,
    /// The channel of this process; addresses of its receivers have it as their key.
    channel: String,
    inbox: Arc<Inbox>,
    /// The sizes of the events that are kept of each session that runs here.
    sizes: Mutex<HashMap<String, Sizes>>,
    appends: mpsc::Sender<Append>,
}

/// The receivers of this process, for the connection that brings their messages.
struct Inbox {
    receivers: Receivers,
    is_available: AtomicBool,
}

/// A Redis server that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot connect to Redis: {0}{hint}", hint = without_tls(.0))]
pub struct RedisError(redis::RedisError);

// No source: the text has the causes already.
impl From<redis::RedisError> for RedisError {
    fn from(error: redis::RedisError) -> Self {
        Self(error)
    }
}

/// What to do about an address that needs a feature.
fn without_tls(error: &redis::RedisError) -> &'static str {
    let is_address = error.kind() == redis::ErrorKind::InvalidClientConfig;
    match is_address && !cfg!(feature = "redis-tls") {
        true => ": `rediss://` needs feature `redis-tls` of `mcp-revisions`",
        false => "",
    }
}

/// How long a command may take.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often the server is asked whether it is there.
const BEAT: Duration = Duration::from_millis(500);
/// How long a replica is taken to be there that does not say so.
const LIFE: Duration = Duration::from_secs(5);

/// Writes the record of a session if its home is still the one that is named.
const SAVE: &str = "
local home = redis.call('HGET', KEYS[1], 'home')
if (home or '') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'home', ARGV[2], 'record', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1";

impl Redis {
    /// Connects to a server, such as `redis://:password@redis.example.com:6379/0`. It connects again by itself.
    ///
    /// `rediss://` is for TLS, with feature `redis-tls`: it trusts the certificates of the operating system, or those in the
    /// file that the environment variable `SSL_CERT_FILE` names.
    ///
    /// # Errors
    /// Returns an error if the URL is not valid, or if the server does not answer within two seconds.
    pub async fn connect(url: impl IntoConnectionInfo) -> Result<Self, RedisError> {
        Self::connect_with_prefix(url, "mcp").await
    }

    /// Connects as [`connect`](Self::connect) does, with keys and channels that begin with a prefix of your own: each group of replicas
    /// that shares a server with others needs one [default: `mcp`].
    ///
    /// # Errors
    /// As [`connect`](Self::connect).
    pub async fn connect_with_prefix(
        url: impl IntoConnectionInfo,
        prefix: &str,
    ) -> Result<Self, RedisError> {
        Self::connected(url.into_connection_info()?, prefix.to_owned()).await
    }

    #[inline(never)]
    fn connected(info: ConnectionInfo, prefix: String) -> Boxed<'static, Result<Self, RedisError>> {
        boxed(Self::connecting(info, prefix))
    }

    async fn connecting(info: ConnectionInfo, prefix: String) -> Result<Self, RedisError> {
        // A cryptography that the program has chosen before stays.
        #[cfg(feature = "redis-tls")]
        if matches!(info.addr(), redis::ConnectionAddr::TcpTls { .. }) {
            let _ = rustls::crypto::ring::default_provider().install_default();
        }
        let settings = info.redis_settings().clone();
        let info = info.set_redis_settings(settings.set_protocol(ProtocolVersion::RESP3));
        let inbox = Arc::new(Inbox {
            receivers: Receivers::default(),
            is_available: AtomicBool::new(true),
        });
        // A message is handed over before the next one is read from the socket, so that none of them queue here.
        let taken = Arc::clone(&inbox);
        let config = ConnectionManagerConfig::new()
            .set_push_sender(move |push| {
                taken.take(push);
                Ok::<(), Infallible>(())
            })
            .set_automatic_resubscription()
            .set_connection_timeout(Some(PATIENCE))
            .set_response_timeout(Some(PATIENCE))
            .set_max_delay(BEAT);
        let client = Client::open(info)?;
        let mut connection = ConnectionManager::new_with_config(client, config).await?;
        let channel = fresh_address().to_string();
        connection
            .subscribe(format!("{prefix}:to:{channel}"))
            .await?;
        connection.subscribe(format!("{prefix}:all")).await?;
        let (appends, appended) = mpsc::channel(APPENDS);
        let shared = Arc::new(Shared {
            connection,
            prefix,
            channel,
            inbox,
            sizes: Mutex::default(),
            appends,
        });
        shared.beat().await?;
        let tasks = [
            spawn(Arc::clone(&shared).write(appended)),
            spawn(Arc::clone(&shared).live()),
        ];
        let tasks = tasks.iter().map(tokio::task::JoinHandle::abort_handle);
        let tasks = tasks.collect();
        let runtime = Runtime::current();
        Ok(Self(Arc::new(Handle {
            shared,
            runtime,
            tasks,
        })))
    }

    /// Begins a work at once, behind all that was begun before, whether it is waited for or not.
    fn begin<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, Unavailable>> + Send + 'static,
    ) -> Reply<T> {
        let runtime = &self.0.runtime;
        let _inside = runtime.enter();
        let mut work: Reply<T> = Box::pin(work);
        let mut context = Context::from_waker(Waker::noop());
        match work.as_mut().poll(&mut context) {
            Poll::Ready(answer) => Box::pin(std::future::ready(answer)),
            Poll::Pending => {
                let work = runtime.spawn(work);
                let ends = |_| Err(Unavailable("its runtime ends".to_owned()));
                Box::pin(async move { work.await.unwrap_or_else(ends) })
            }
        }
    }
}

impl Inbox {
    /// Takes what the connection brings.
    fn take(&self, push: PushInfo) {
        match push.kind {
            PushKind::Disconnection => self.is_available.store(false, Ordering::Release),
            PushKind::Message => {
                if let [_, Value::BulkString(message)] = push.data.as_slice() {
                    self.deliver(message);
                }
            }
            _ => {}
        }
    }

    /// Hands a message to its receivers.
    fn deliver(&self, message: &[u8]) {
        let Some((address, message)) = message.split_at_checked(ADDRESS) else {
            return;
        };
        let to = match address == EVERYONE {
            true => To::All,
            false => To::One(std::str::from_utf8(address).unwrap_or_default()),
        };
        for receiver in self.receivers.of(to) {
            receiver.receive(message);
        }
    }
}

impl Shared {
    fn key(&self, kind: &str, name: &str) -> String {
        format!("{}:{kind}:{name}", self.prefix)
    }

    /// Says that this process is there, and which receivers are in it.
    async fn beat(&self) -> redis::RedisResult<()> {
        let mut beats = redis::pipe();
        beats.cmd("PING").ignore();
        for address in self.inbox.receivers.addresses() {
            let key = self.key("at", &address);
            let life = LIFE.as_millis().to_string();
            beats
                .cmd("SET")
                .arg(key)
                .arg(&self.channel)
                .arg("PX")
                .arg(life)
                .ignore();
        }
        beats.exec_async(&mut self.connection.clone()).await
    }

    /// Keeps saying so, and finds out whether the server is there.
    async fn live(self: Arc<Self>) {
        loop {
            tokio::time::sleep(BEAT).await;
            let beat = tokio::time::timeout(PATIENCE, self.beat()).await;
            let is_there = matches!(beat, Ok(Ok(())));
            self.forget_sizes();
            let was_there = self.inbox.is_available.swap(is_there, Ordering::AcqRel);
            if is_there && !was_there {
                for receiver in self.inbox.receivers.of(To::All) {
                    receiver.reconnected();
                }
            }
        }
    }

    /// Runs a command, whose answer is waited for no longer than that makes sense.
    async fn run<T: redis::FromRedisValue>(&self, command: &Cmd) -> Result<T, Unavailable> {
        if !self.inbox.is_available.load(Ordering::Acquire) {
            return Err(Unavailable("Redis does not answer".to_owned()));
        }
        let mut connection = self.connection.clone();
        let answer = command.query_async(&mut connection);
        match tokio::time::timeout(PATIENCE, answer).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(Unavailable(error.to_string())),
            Err(_) => Err(Unavailable("Redis does not answer".to_owned())),
        }
    }
}

/// The bytes of an address, before each message.
const ADDRESS: usize = 8;
const EVERYONE: &[u8] = b"everyone";

impl Backplane for Redis {
    fn join(&self, receiver: Weak<dyn Receiver>) -> Arc<str> {
        let shared = &self.0.shared;
        let address = shared.inbox.receivers.join(receiver);
        // Before anything that is sent from here, on the same connection.
        let beating = Arc::clone(shared);
        drop(self.begin(async move {
            let _ = beating.beat().await;
            Ok(())
        }));
        address
    }

    fn send(&self, to: To<'_>, message: Vec<u8>) -> Reply<bool> {
        let shared = Arc::clone(&self.0.shared);
        let to = match to {
            To::One(address) => Some(address.to_owned()),
            To::All => None,
        };
        self.begin(async move {
            let addressed = |address: &[u8]| {
                let mut bytes = Vec::with_capacity(ADDRESS + message.len());
                bytes.extend_from_slice(address);
                bytes.extend_from_slice(&message);
                bytes
            };
            let Some(address) = to else {
                let channel = format!("{}:all", shared.prefix);
                let mut publish = redis::cmd("PUBLISH");
                publish.arg(channel).arg(addressed(EVERYONE));
                return Ok(shared.run::<i64>(&publish).await? > 0);
            };
            if address.len() != ADDRESS {
                return Ok(false);
            }
            let mut send = redis::cmd("EVAL");
            send.arg(SEND).arg(1).arg(shared.key("at", &address));
            send.arg(format!("{}:to:", shared.prefix));
            send.arg(addressed(address.as_bytes()));
            Ok(shared.run::<i64>(&send).await? > 0)
        })
    }

    fn save(
        &self,
        session: &str,
        record: &SessionRecord,
        of: Option<&str>,
        keep: Duration,
    ) -> Reply<bool> {
        let shared = Arc::clone(&self.0.shared);
        let keep = u64::try_from(keep.as_millis())
            .unwrap_or(u64::MAX)
            .min(MAX_KEPT);
        let mut save = redis::cmd("EVAL");
        save.arg(SAVE).arg(1).arg(shared.key("session", session));
        save.arg(of.unwrap_or_default()).arg(&record.home);
        save.arg(record.to_text()).arg(keep);
        self.begin(async move { Ok(shared.run::<i64>(&save).await? == 1) })
    }

    fn find(&self, session: &str) -> Reply<Option<SessionRecord>> {
        let shared = Arc::clone(&self.0.shared);
        let mut find = redis::cmd("HGET");
        find.arg(shared.key("session", session)).arg("record");
        self.begin(async move {
            let text: Option<String> = shared.run(&find).await?;
            let record = text.as_deref().map(SessionRecord::from_text).transpose();
            record.map_err(|broken| Unavailable(broken.to_string()))
        })
    }

    fn end(&self, session: &str) -> Reply<()> {
        let shared = Arc::clone(&self.0.shared);
        lock(&shared.sizes).remove(session);
        let keys = ["session", "events"].map(|kind| shared.key(kind, session));
        let mut end = redis::cmd("DEL");
        end.arg(&keys);
        self.begin(async move { shared.run(&end).await })
    }

    fn append(&self, session: &str, _: &Owner, event: KeptEvent) {
        self.0.shared.append(session, event);
    }

    fn after(&self, session: &str, event: EventId) -> Reply<Option<Vec<KeptEvent>>> {
        let shared = Arc::clone(&self.0.shared);
        let mut read = redis::cmd("XRANGE");
        read.arg(shared.key("events", session)).arg("-").arg("+");
        self.begin(async move {
            let kept: Vec<(String, Fields)> = shared.run(&read).await?;
            let events = kept.into_iter().filter_map(|(_, fields)| of_fields(fields));
            Ok(without_gaps(event, events))
        })
    }

    #[cfg(feature = "ext-tasks")]
    fn tasks(&self) -> Arc<dyn super::TaskStore> {
        Arc::new(self.clone())
    }

    fn is_available(&self) -> bool {
        self.0.shared.inbox.is_available.load(Ordering::Acquire)
    }
}

/// Sends a message on, if the replica at an address is there.
const SEND: &str = "
local channel = redis.call('GET', KEYS[1])
if not channel then return 0 end
return redis.call('PUBLISH', ARGV[1] .. channel, ARGV[2])";

/// A year: as long as a record is kept at most.
const MAX_KEPT: u64 = 365 * 24 * 3600 * 1000;

impl std::fmt::Debug for Redis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redis")
            .field("prefix", &self.0.shared.prefix)
            .field("is_available", &self.is_available())
            .finish_non_exhaustive()
    }
}
