//! The same server as one, two and three replicas, in memory and with Redis, under calls that take turns among them:
//! `replicas SECONDS` prints calls a second and p50 of many clients, p50 of one, and Redis commands per call.
//!
//! `cargo run --release --manifest-path tests/peers/http/Cargo.toml --bin replicas -- 5` takes two minutes. What Redis costs
//! per call is the p50 of one client at three replicas with Redis, less that at one replica in memory.
//!
//! Each replica has a thread and a port of its own, in this process. With Redis they share a `redis-server` of the PATH, on
//! a socket; with a backplane in memory they call each other.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use mcp_revisions::backplane::{Memory, Redis};
use mcp_revisions::http::{self, Options};
use mcp_revisions::service::Router;
use peers_http::{Client, Failure, Mode, at};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::runtime::{Builder, Runtime};

/// How many clients call at a time.
const CLIENTS: usize = 32;
/// What is not counted: connections open, and code and memory get warm.
const WARM: Duration = Duration::from_secs(1);

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: f64,
    b: f64,
}

/// A Redis server, which ends with this.
struct Server {
    child: Child,
    folder: PathBuf,
}

impl Server {
    fn start() -> Result<Self, Failure> {
        let folder = std::env::temp_dir().join(format!("replicas-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let child = Command::new("redis-server")
            .args(["--port", "0", "--save", "", "--unixsocket", "socket"])
            .current_dir(&folder)
            .stdout(Stdio::null())
            .spawn()
            .map_err(|why| format!("redis-server: {why} (apt-get install redis-server)"))?;
        let server = Self { child, folder };
        for _ in 0..500 {
            if UnixStream::connect(server.socket()).is_ok() {
                return Ok(server);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Err("redis-server does not listen".into())
    }

    fn socket(&self) -> PathBuf {
        self.folder.join("socket")
    }

    /// How many commands it has had.
    fn commands(&self) -> Result<u64, Failure> {
        let mut stream = UnixStream::connect(self.socket())?;
        stream.write_all(b"INFO stats\r\nQUIT\r\n")?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        let name = "total_commands_processed:";
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        Ok(line.ok_or("no number of commands")?.trim().parse()?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Replicas that are at work until this is dropped.
struct Replicas {
    ports: Vec<u16>,
    _runtimes: Vec<Runtime>,
}

impl Replicas {
    fn start(number: usize, redis: Option<&Path>) -> Result<Self, Failure> {
        let memory = Memory::new();
        let (mut ports, mut runtimes) = (Vec::new(), Vec::new());
        for _ in 0..number {
            let runtime = Builder::new_multi_thread()
                .worker_threads(1)
                .enable_all()
                .build()?;
            let listener = runtime.block_on(async {
                let options = match redis {
                    Some(socket) => {
                        let url = format!("redis+unix://{}", socket.display());
                        Options::new().with_backplane(Redis::connect(url).await?)
                    }
                    None => Options::new().with_backplane(memory.clone()),
                };
                let add = |Add { a, b }| async move { a + b };
                let router = Router::new().tool("add", "Adds two numbers.", add);
                let service = router.build("example", "1.0.0")?.into_http_service(options);
                let listener = http::bind(("127.0.0.1", 0)).await?;
                let port = listener.local_addr()?.port();
                tokio::spawn(http::serve(listener, service));
                Ok::<_, Failure>(port)
            })?;
            ports.push(listener);
            runtimes.push(runtime);
        }
        Ok(Self {
            ports,
            _runtimes: runtimes,
        })
    }
}

/// Calls each replica in turn until the time is over; the microseconds that each call took.
async fn work(
    ports: Vec<u16>,
    mode: Mode,
    from: Instant,
    until: Instant,
) -> Result<Vec<u32>, Failure> {
    let first = Client::connect(ports[0], mode).await?;
    let mut clients = Vec::new();
    for &port in &ports[1..] {
        clients.push(first.at(port).await?);
    }
    clients.insert(0, first);
    let (mut took, mut number) = (Vec::new(), 0);
    while Instant::now() < until {
        number += 1;
        let turn = usize::try_from(number)? % clients.len();
        let start = Instant::now();
        clients[turn].call(mode, number).await?;
        if start >= from {
            took.push(u32::try_from(start.elapsed().as_micros())?);
        }
    }
    Ok(took)
}

/// The time of each call of so many clients, sorted.
async fn load(
    ports: &[u16],
    mode: Mode,
    clients: usize,
    time: Duration,
) -> Result<Vec<u32>, Failure> {
    let from = Instant::now() + WARM;
    let tasks: Vec<_> = (0..clients)
        .map(|turn| {
            let mut ports = ports.to_vec();
            // Sessions are opened at each of them.
            let first = turn % ports.len();
            ports.rotate_left(first);
            tokio::spawn(work(ports, mode, from, from + time))
        })
        .collect();
    let mut took = Vec::new();
    for task in tasks {
        took.extend(task.await??);
    }
    took.sort_unstable();
    Ok(took)
}

fn main() -> Result<(), Failure> {
    let [seconds] = peers_http::arguments()?;
    let time = Duration::from_secs(seconds.parse()?);
    let redis = Server::start()?;
    let socket = redis.socket();
    let clients = Builder::new_current_thread().enable_all().build()?;
    println!(
        "mode      backplane  replicas   calls/s  p50 of {CLIENTS}  p50 of 1  Redis commands per call"
    );
    for mode in [Mode::Sessions, Mode::PerRequest] {
        for (name, socket) in [("memory", None), ("redis", Some(&*socket))] {
            for number in 1..=3 {
                let replicas = Replicas::start(number, socket)?;
                let before = redis.commands()?;
                let many = clients.block_on(load(&replicas.ports, mode, CLIENTS, time))?;
                let commands = redis.commands()? - before;
                let one = clients.block_on(load(&replicas.ports, mode, 1, time))?;
                let rate = many.len() as f64 / time.as_secs_f64();
                // Those of the warm-up are not counted among the calls.
                let calls = rate * (time + WARM).as_secs_f64();
                println!(
                    "{:<9} {name:<9} {number:>9} {rate:>9.0} {:>7} us {:>6} us {:>8.3}",
                    format!("{mode:?}").to_lowercase(),
                    at(&many, 50),
                    at(&one, 50),
                    commands as f64 / calls.max(1.0),
                );
            }
        }
    }
    Ok(())
}
