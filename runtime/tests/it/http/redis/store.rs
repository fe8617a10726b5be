//! The store of tasks in a Redis server.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use mcp_revisions::backplane::{Backplane, EventId, KeptEvent, Receiver, Redis, ReplicaTarget};
use mcp_revisions::sansio::server::{
    MemoryTasks, Owner, Task, TaskCount, TaskStatus, TaskStoreError,
};

use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

use super::Server;
use crate::service::trace::Fields;

/// A task of an owner, as the store of a backplane has it.
fn task(id: u64, owner: &str, created_ms: i64) -> Task {
    Task {
        id: format!("{id:032x}"),
        owner: Some(owner.to_owned()),
        share: owner.to_owned(),
        home: None,
        version: TaskCount(0),
        status: TaskStatus::Working,
        message: None,
        created_ms: TaskCount(created_ms),
        updated_ms: TaskCount(created_ms),
        ttl_ms: TaskCount(60_000),
        poll_interval_ms: TaskCount(1_000),
        method: "tools/call".to_owned(),
        questions: Vec::new(),
        answers: Vec::new(),
        result: None,
        error: None,
    }
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap().as_millis() as i64
}

/// Does something with a Redis server of its own, where there is one.
fn with_redis(name: &str, work: impl AsyncFnOnce(Redis)) {
    let Some(server) = Server::start(name) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async { work(Redis::connect(server.url().as_str()).await.unwrap()).await });
}

#[test]
fn tasks_are_kept_in_redis_as_they_are_in_memory() {
    with_redis("tasks-store", async |redis| {
        let stores = [redis.tasks(), Arc::new(MemoryTasks::default())];
        let now = now_ms();
        let mut random = fastrand::Rng::with_seed(25);
        for _ in 0..600 {
            // A task keeps its owner and its time of creation.
            let of = |id: u64| task(id, ["a", "b"][id as usize % 2], now + id as i64 % 4);
            let (id, after) = (random.u64(..12), of(random.u64(..12)));
            let mut one = of(id);
            one.version = TaskCount(random.i64(..3));
            one.message = Some("\u{e9}".repeat(random.usize(..40)));
            let owner = ["a", "b"][random.usize(..2)];
            let after = random
                .bool()
                .then_some((after.created_ms, after.id.as_str()));
            let what = random.u8(..5);
            let mut did = Vec::new();
            for store in &stores {
                did.push(match what {
                    0 => format!("{:?}", store.insert(one.clone()).await),
                    1 => format!("{:?}", store.replace(one.clone()).await),
                    2 => format!("{:?}", store.get(&one.id).await),
                    3 => format!("{:?}", store.list(owner, after, id as usize % 4).await),
                    _ => format!("{:?}", store.remove(&one.id).await),
                });
            }
            assert_eq!(did[0], did[1]);
        }
    });
}

#[test]
fn a_share_of_the_tasks_in_redis_has_an_end_and_what_expires_leaves_room() {
    with_redis("tasks-share", async |redis| {
        let store = redis.tasks();
        let large = |id, owner| Task {
            message: Some("x".repeat(4 << 20)),
            ..task(id, owner, now_ms())
        };
        // A quarter of 64 MiB is for one of them.
        for id in 0..3 {
            store.insert(large(id, "a")).await.unwrap();
        }
        let mut soon = large(3, "a");
        (soon.message, soon.ttl_ms) = (Some("x".repeat(3 << 20)), TaskCount(1_000));
        store.insert(soon.clone()).await.unwrap();
        assert_eq!(store.insert(large(4, "a")).await, Err(TaskStoreError::Full));
        store.insert(large(5, "b")).await.unwrap();
        // One that grows finds no room either, and one that shrinks does.
        let grown = Task {
            version: TaskCount(1),
            message: Some("x".repeat(6 << 20)),
            ..large(0, "a")
        };
        assert_eq!(
            store.replace(grown.clone()).await,
            Err(TaskStoreError::Full)
        );
        let begun = Instant::now();
        while store.get(&soon.id).await.unwrap().is_some() {
            assert!(
                begun.elapsed() < Duration::from_secs(20),
                "it does not expire"
            );
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        store.insert(task(6, "a", now_ms())).await.unwrap();
        store.replace(grown).await.unwrap();
        store.remove(&format!("{:032x}", 0)).await.unwrap();
        store.insert(large(4, "a")).await.unwrap();
    });
}

struct Deaf;

impl Receiver for Deaf {
    fn receive(&self, _: &[u8]) {}
}

#[test]
fn a_receiver_that_is_gone_is_soon_known_to_be_gone() {
    with_redis("gone", async |redis| {
        let deaf: Arc<dyn Receiver> = Arc::new(Deaf);
        let address = redis.join(Arc::downgrade(&deaf));
        let is_there = async || {
            let sent = redis
                .send(ReplicaTarget::One(&address), b"x".to_vec())
                .await;
            sent.unwrap()
        };
        let begun = Instant::now();
        let until = async |expected| {
            while is_there().await != expected {
                assert!(begun.elapsed() < Duration::from_secs(30), "{expected}");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        until(true).await;
        drop(deaf);
        until(false).await;
    });
}

#[test]
fn the_events_of_one_client_take_a_share_of_redis_and_leave_room_for_those_of_another() {
    with_redis("events-share", async |redis| {
        let text = "x".repeat(100 << 10);
        let append = |session: &str, owner: &str, place: u64| {
            let owner = Owner::Principal(owner.into());
            let id = EventId { stream: 1, place };
            let (text, last) = (text.clone(), false);
            redis.append(session, &owner, KeptEvent { id, text, last });
        };
        let kept = async |session: &str| {
            let first = EventId {
                stream: 1,
                place: 0,
            };
            let kept = redis.after(session, first).await.unwrap();
            kept.map_or(0, |events| events.len())
        };
        // Of 40 MB, 16 MiB are for one client.
        for session in 0..200 {
            for place in 1..=2 {
                append(&format!("greedy {session}"), "greedy", place);
            }
        }
        append("other", "other", 1);
        let begun = Instant::now();
        while kept("other").await != 1 {
            assert!(begun.elapsed() < Duration::from_secs(20), "it is not kept");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let mut all = 0;
        for session in 0..200 {
            all += kept(&format!("greedy {session}")).await;
        }
        assert!((150..=163).contains(&all), "{all} of 400 are kept");
        // Where a session ends, there is room again.
        for session in 0..10 {
            redis.end(&format!("greedy {session}")).await.unwrap();
        }
        append("greedy 200", "greedy", 1);
        let begun = Instant::now();
        while kept("greedy 200").await != 1 {
            assert!(begun.elapsed() < Duration::from_secs(20), "it is not kept");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
}

#[test]
fn replicas_divide_the_room_for_events_of_one_client_among_them() {
    let Some(server) = Server::start("events-divided") else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let url = server.url();
        let mut replicas = Vec::new();
        for _ in 0..32 {
            replicas.push(Redis::connect(url.as_str()).await.unwrap());
        }
        let redis = &replicas[0];
        let begun = Instant::now();
        for round in 0.. {
            // Of 4 MB, one of 32 replicas keeps 2 MiB, a quarter of its part; one that is alone keeps all of them.
            let owner = Owner::Principal(format!("greedy {round}").into());
            for session in 0..40 {
                let id = EventId {
                    stream: 1,
                    place: 1,
                };
                let (text, last) = ("x".repeat(100 << 10), false);
                let event = KeptEvent { id, text, last };
                redis.append(&format!("{round} {session}"), &owner, event);
            }
            tokio::time::sleep(Duration::from_millis(300)).await;
            let mut kept = 0;
            for session in 0..40 {
                let first = EventId {
                    stream: 1,
                    place: 0,
                };
                let session = format!("{round} {session}");
                let events = redis.after(&session, first).await;
                kept += events.unwrap().map_or(0, |events| events.len());
                // The next round finds all of the room.
                redis.end(&session).await.unwrap();
            }
            if (15..=20).contains(&kept) {
                break;
            }
            assert!(
                begun.elapsed() < Duration::from_secs(20),
                "{kept} of 40 are kept"
            );
        }
    });
}

/// What an operator reads of the backplane.
#[derive(Clone, Default)]
struct BackplaneLines(Arc<Mutex<Vec<String>>>);

impl<S: tracing::Subscriber> Layer<S> for BackplaneLines {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let said = fields.0.remove("message").unwrap_or_default();
        if said.starts_with("the backplane") {
            self.0.lock().unwrap().push(said);
        }
    }
}

#[test]
fn an_operator_reads_once_that_redis_went_away_and_once_that_it_came_back() {
    let Some(mut server) = Server::start("lines") else {
        return;
    };
    let lines = BackplaneLines::default();
    // While there is one subscriber in the process, the thread that meets an event first decides for all threads whether anybody
    // reads it, by its own subscriber; with two, all of them are asked.
    let _second = tracing::Dispatch::new(tracing_subscriber::registry());
    let subscriber = tracing_subscriber::registry().with(lines.clone());
    let _guard = tracing::subscriber::set_default(subscriber);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let redis = runtime.block_on(Redis::connect(server.url().as_str()));
    let redis = redis.unwrap();
    let pause = |time| runtime.block_on(async { tokio::time::sleep(time).await });
    let until = |is_there: bool| {
        let begun = Instant::now();
        let told = if is_there { 2 } else { 1 };
        while redis.available().is_ok() != is_there || lines.0.lock().unwrap().len() < told {
            let said = lines.0.lock().unwrap().clone();
            assert!(begun.elapsed() < Duration::from_secs(20), "{said:?}");
            pause(Duration::from_millis(20));
        }
    };
    // Between two looks at it: the connection ends by itself.
    pause(Duration::from_millis(600));
    server.stop();
    until(false);
    server.restart();
    until(true);
    let said = lines.0.lock().unwrap().clone();
    assert_eq!(
        said,
        [
            "the backplane cannot be used: requests that need it get status 503",
            "the backplane can be used again",
        ]
    );
}
