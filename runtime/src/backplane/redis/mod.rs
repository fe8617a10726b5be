//! The backplane of several processes, in a Redis server: a hash per session, a stream of its events, and publish/subscribe.

mod events;
mod presence;
#[cfg_attr(not(feature = "ext-tasks"), path = "without_tasks.rs")]
mod tasks;

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{
    Client, Cmd, ConnectionInfo, IntoConnectionInfo, ProtocolVersion, PushInfo, PushKind, Value,
};
use tokio::runtime::Handle as Runtime;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use events::{APPENDS, Append, EVENTS_KEPT, EventFields, Sizes, event_bytes, of_fields};

use presence::{BEAT, ReplicaPresence};

use super::receivers::{Receivers, fresh_address};
use super::{
    Backplane, EventId, KeptEvent, Receiver, ReplicaTarget, Reply, SessionRecord, Unavailable,
};
use crate::serve::Budget;
use crate::transport::panics::lock;
use crate::transport::spawn::{Boxed, boxed, spawn};
use mcp_revisions_sansio::server::{Owner, TaskStore};

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
pub struct Redis(Arc<RedisHandle>);

/// The parts that end with the last clone of the backplane.
struct RedisHandle {
    shared: Arc<SharedRedis>,
    /// The runtime of commands that are not waited for.
    runtime: Runtime,
    tasks: Vec<AbortHandle>,
}

impl Drop for RedisHandle {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

struct SharedRedis {
    connection: ConnectionManager,
    /// The beginning of all keys and channels.
    prefix: String,
    /// The channel of this process; addresses of its receivers have it as their key.
    channel: String,
    inbox: Arc<Inbox>,
    presence: Mutex<ReplicaPresence>,
    /// The sizes of the events that are kept of each session that runs here.
    sizes: Mutex<HashMap<String, Sizes>>,
    /// The budget of all of them, in bytes.
    event_bytes: Arc<Budget>,
    appends: mpsc::Sender<Append>,
    /// The key that signs `requestState` in all replicas, in hexadecimal, once this one has asked for it.
    state_key: OnceLock<String>,
}

/// The receivers of this process, for the connection that brings their messages.
struct Inbox {
    receivers: Receivers,
    is_available: AtomicBool,
    /// Why it is not available.
    why: Mutex<String>,
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

/// Returns the help for an address that needs a feature.
fn without_tls(error: &redis::RedisError) -> &'static str {
    let is_address = error.kind() == redis::ErrorKind::InvalidClientConfig;
    if is_address && !cfg!(feature = "redis-tls") {
        ": `rediss://` needs feature `redis-tls` of `mcp-revisions`"
    } else {
        ""
    }
}

/// Maximum time of a command: a pause of the server that is shorter costs no call, and a replica is there for longer.
const PATIENCE: Duration = Duration::from_secs(4);

/// Writes the record of a session if its home is still the one that is named.
const SAVE: &str = "
local home = redis.call('HGET', KEYS[1], 'home')
if (home or '') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'home', ARGV[2], 'record', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1";

impl Redis {
    /// Connects to a server, such as `redis://:password@redis.example.com:6379/0`. It connects again by itself.
    /// Cancel safe.
    ///
    /// `rediss://` is for TLS, with feature `redis-tls`: it trusts the certificates of the operating system, or those in the
    /// file that the environment variable `SSL_CERT_FILE` names.
    ///
    /// # Errors
    /// Returns an error if the URL is not valid, or if the server does not answer within four seconds.
    pub async fn connect(url: impl IntoConnectionInfo) -> Result<Self, RedisError> {
        Self::connect_with_prefix(url, "mcp").await
    }

    /// Connects as [`connect`](Self::connect) does, with keys and channels that begin with a prefix of your own: each group of replicas
    /// that shares a server with others needs one [default: `mcp`].
    /// Cancel safe.
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
        // The manager of connections tries again by itself, for longer than anybody waits.
        boxed(async move {
            let connecting = Self::connecting(info, prefix);
            let silent = || (redis::ErrorKind::Io, SILENT).into();
            let connected = tokio::time::timeout(PATIENCE, connecting).await;
            connected.unwrap_or_else(|_| Err(RedisError(silent())))
        })
    }

    async fn connecting(info: ConnectionInfo, prefix: String) -> Result<Self, RedisError> {
        // A cryptography that the program has chosen before stays.
        #[cfg(feature = "redis-tls")]
        if matches!(info.addr(), redis::ConnectionAddr::TcpTls { .. }) {
            let _ = rustls::crypto::ring::default_provider().install_default();
        }
        let settings = info.redis_settings().clone();
        let connection_info =
            info.set_redis_settings(settings.set_protocol(ProtocolVersion::RESP3));
        let inbox = Arc::new(Inbox {
            receivers: Receivers::default(),
            is_available: AtomicBool::new(true),
            why: Mutex::new(SILENT.to_owned()),
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
        let client = Client::open(connection_info)?;
        let mut connection = ConnectionManager::new_with_config(client, config).await?;
        let channel = fresh_address().to_string();
        connection
            .subscribe(format!("{prefix}:to:{channel}"))
            .await?;
        connection.subscribe(format!("{prefix}:all")).await?;
        let (appends, appended) = mpsc::channel(APPENDS);
        let shared = Arc::new(SharedRedis {
            connection,
            prefix,
            channel,
            inbox,
            presence: Mutex::default(),
            sizes: Mutex::default(),
            event_bytes: event_bytes(),
            appends,
            state_key: OnceLock::new(),
        });
        shared.beat().await?;
        let tasks = [
            spawn(Arc::clone(&shared).write(appended)),
            spawn(Arc::clone(&shared).live()),
        ];
        let handles = tasks
            .iter()
            .map(tokio::task::JoinHandle::abort_handle)
            .collect();
        let runtime = Runtime::current();
        Ok(Self(Arc::new(RedisHandle {
            shared,
            runtime,
            tasks: handles,
        })))
    }

    /// Returns the key for [`with_request_state_key`](crate::sansio::server::Server::with_request_state_key) that all replicas of
    /// this server share. The first replica makes it, of random bytes, and the others read it.
    /// Cancel safe.
    ///
    /// # Errors
    /// Returns an error if the server does not answer within four seconds, or if its key is not one.
    pub async fn request_state_key(&self) -> Result<[u8; 32], RedisError> {
        let shared = Arc::clone(&self.0.shared);
        boxed(async move { shared.request_state_key().await }).await
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
        let to = if address == EVERYONE {
            ReplicaTarget::All
        } else {
            ReplicaTarget::One(std::str::from_utf8(address).unwrap_or_default())
        };
        for receiver in self.receivers.of(to) {
            receiver.receive(message);
        }
    }
}

impl SharedRedis {
    fn key(&self, kind: &str, name: &str) -> String {
        format!("{}:{kind}:{name}", self.prefix)
    }

    /// Returns the name under which the replicas share the key that signs `requestState`.
    fn state_key_name(&self) -> String {
        format!("{}:state-key", self.prefix)
    }

    async fn request_state_key(&self) -> Result<[u8; 32], RedisError> {
        let failed = |what: &'static str| {
            RedisError(redis::RedisError::from((
                redis::ErrorKind::UnexpectedReturnType,
                what,
            )))
        };
        let mut made = [0_u8; 32];
        if getrandom::fill(&mut made).is_err() {
            return Err(failed("the system gave no randomness for a key"));
        }
        let text: String = made.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut set = redis::cmd("SET");
        set.arg(self.state_key_name())
            .arg(&text)
            .arg(&["NX", "GET"]);
        let found: Option<String> = set.query_async(&mut self.connection.clone()).await?;
        let text = found.unwrap_or(text);
        let digits = |at: usize| u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok();
        let bytes: Option<Vec<u8>> = (0..32).map(digits).collect();
        let key = bytes.and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
        let Some(key) = key.filter(|_| text.len() == 64) else {
            return Err(failed(
                "the key for `requestState` in it is not 64 hexadecimal digits",
            ));
        };
        let _ = self.state_key.set(text);
        Ok(key)
    }

    /// Returns the channel to which every replica listens.
    fn channel_of_all(&self) -> String {
        format!("{}:all", self.prefix)
    }

    fn available(&self) -> Result<(), Unavailable> {
        if self.inbox.is_available.load(Ordering::Acquire) {
            Ok(())
        } else {
            Err(Unavailable(lock(&self.inbox.why).clone()))
        }
    }

    /// Runs a command, whose answer is waited for no longer than that makes sense.
    async fn run<T: redis::FromRedisValue>(&self, command: &Cmd) -> Result<T, Unavailable> {
        self.wait_for(async |connection| command.query_async(connection).await)
            .await
    }

    /// Waits for the answer of the server no longer than that makes sense.
    async fn wait_for<T>(
        &self,
        answer: impl AsyncFnOnce(&mut ConnectionManager) -> redis::RedisResult<T>,
    ) -> Result<T, Unavailable> {
        self.available()?;
        let mut connection = self.connection.clone();
        match tokio::time::timeout(PATIENCE, answer(&mut connection)).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(Unavailable(reason(&error))),
            Err(_) => Err(Unavailable(SILENT.to_owned())),
        }
    }
}

/// Why a server that does not answer is not available.
const SILENT: &str = "Redis does not answer";

/// Returns the reason of an error of the server, for operators.
fn reason(error: &redis::RedisError) -> String {
    let advice = match error.code() {
        Some("OOM") => "Redis is out of memory: raise its `maxmemory`",
        Some("READONLY") => "Redis is read-only: connect to the primary, not to its replica",
        Some("MISCONF") => "Redis refuses to write, because it cannot save to its disk",
        _ => return error.to_string(),
    };
    advice.to_owned()
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

    fn leave(&self, address: &str) -> Reply<()> {
        let shared = Arc::clone(&self.0.shared);
        shared.inbox.receivers.has_left(address);
        let mut leave = redis::cmd("SET");
        leave.arg(shared.key("at", address)).arg(NOWHERE);
        leave.arg("PX").arg(EVENTS_KEPT.as_millis().to_string());
        // Messages published before come before the answer, on the same connection.
        self.begin(async move { shared.run(&leave).await })
    }

    fn send(&self, to: ReplicaTarget<'_>, message: Vec<u8>) -> Reply<bool> {
        let shared = Arc::clone(&self.0.shared);
        let to = match to {
            ReplicaTarget::One(address) => Some(address.to_owned()),
            ReplicaTarget::All => None,
        };
        self.begin(async move {
            let addressed = |address: &[u8]| {
                let mut bytes = Vec::with_capacity(ADDRESS + message.len());
                bytes.extend_from_slice(address);
                bytes.extend_from_slice(&message);
                bytes
            };
            let Some(address) = to else {
                let channel = shared.channel_of_all();
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
            // A replica whose key vanished says again that it is there.
            for _ in 0..MISSED_BEATS {
                match shared.run::<i64>(&send).await? {
                    ABSENT => tokio::time::sleep(BEAT).await,
                    receivers => return Ok(receivers > 0),
                }
            }
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
        let mut find = redis::pipe();
        let key = shared.key("session", session);
        find.cmd("HGET").arg(key).arg("record");
        find.cmd("GET").arg(shared.mark());
        find.cmd("EXISTS").arg(shared.emptied());
        self.begin(async move {
            let found = shared.wait_for(async |connection| find.query_async(connection).await);
            let (text, mark, is_emptied): (Option<String>, Option<String>, bool) = found.await?;
            // The replica that runs the session saves it again.
            let is_known = mark.as_ref() == Some(&lock(&shared.presence).mark);
            if text.is_none() && (is_emptied || !is_known) {
                return Err(Unavailable("Redis lost its keys a moment ago".to_owned()));
            }
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

    fn append(&self, session: &str, owner: &Owner, event: KeptEvent) {
        self.0.shared.append(session, owner, event);
    }

    fn after(&self, session: &str, event: EventId) -> Reply<Option<Vec<KeptEvent>>> {
        let shared = Arc::clone(&self.0.shared);
        let mut read = redis::cmd("XRANGE");
        read.arg(shared.key("events", session)).arg("-").arg("+");
        self.begin(async move {
            let kept: Vec<(String, EventFields)> = shared.run(&read).await?;
            let events = kept.into_iter().filter_map(|(_, fields)| of_fields(fields));
            Ok(event.without_gaps(events))
        })
    }

    fn tasks(&self) -> Arc<dyn TaskStore> {
        Arc::new(self.clone())
    }

    fn available(&self) -> Result<(), Unavailable> {
        self.0.shared.available()
    }
}

/// The channel of a replica that has taken leave, to which none listens: who looks for it does not wait.
const NOWHERE: &str = "nowhere";
/// The value returned for an address without a key.
const ABSENT: i64 = -1;
/// Maximum number of beats that a replica may miss before it counts as gone.
const MISSED_BEATS: u32 = 3;

/// Sends a message on, if the replica at an address is there.
const SEND: &str = "
local channel = redis.call('GET', KEYS[1])
if not channel then return -1 end
return redis.call('PUBLISH', ARGV[1] .. channel, ARGV[2])";

/// A year: as long as a record is kept at most.
const MAX_KEPT: u64 = 365 * 24 * 3600 * 1000;

mcp_wire::debug_struct!([] Redis, "Redis", self, "prefix": self.0.shared.prefix, "is_available": self.available().is_ok());
