//! `mcp-rev bridge`: any client in front of any server, each spoken to in its own revision.
//!
//! ```text
//! client -- listen (stdio, HTTP) -- Server<App> -- join -- servers -- upstream: Client<App> -- wire (a process, a URL) -- server
//! ```
//! `App` is the revision of the server, once that is known: what its client speaks as well is not converted at all.

mod greeting;
mod identity;
mod join;
mod listen;
mod log;
mod losses;
mod servers;
mod upstream;
mod wire;

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use mcp_registry::{LossKind, Policy, Revision, Spoken, WithSpoken};
use mcp_revisions::RevisionSet;
use mcp_revisions::client::ServerFacts;
use mcp_revisions::server::{Caller, Profile, Server};
use mcp_wire::Json;

use crate::Outcome;
use greeting::Greeting;
use join::Join;
use listen::Listen;
use losses::{End, Losses};
use servers::{Servers, Start};
use upstream::Upstream;
use wire::{Target, Wire};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Where clients come from: `stdio`, or `http://127.0.0.1:PORT/mcp`
    #[arg(long, value_name = "WHERE", default_value = "stdio")]
    listen: Listen,
    /// Speak these revisions alone with clients
    #[arg(long, value_name = "ID,...", value_delimiter = ',')]
    serve_only: Vec<Revision>,
    /// The revision to speak with the server [default: its newest]
    #[arg(long, value_name = "ID")]
    server_revision: Option<Revision>,
    /// What becomes of members that the older revision does not name
    #[arg(long, default_value = "strict")]
    policy: PolicyName,
    /// Where each loss is told, one JSON line each: a file, `stderr` or `off`
    #[arg(long, value_name = "FILE", default_value = "stderr")]
    losses: String,
    /// Refuse what loses something of this kind: an error goes in its place
    #[arg(long, value_name = "KIND")]
    refuse: Vec<Kind>,
    /// Write down what goes to and from the server, for `mcp-rev transcript`; each further server of an HTTP listener
    /// gets a file beside it
    #[arg(long, value_name = "FILE")]
    record: Option<String>,
    /// A header of each request to a server at a URL, such as `Authorization:Bearer TOKEN`
    #[arg(long, value_name = "NAME:VALUE", value_parser = header, requires = "url")]
    header: Vec<(String, String)>,
    /// How many servers an HTTP listener has at work at most: one a session, and one for all modern clients that are alike
    #[arg(long, value_name = "NUMBER", default_value_t = 1_000)]
    max_servers: usize,
    /// How much is told on standard error: off, error, warn, info, debug or trace [env: MCP_REV_LOG] [default: info]
    #[arg(long, value_name = "LEVEL")]
    log: Option<log::Level>,
    /// The server, if it is one over HTTP
    #[arg(conflicts_with = "command", required_unless_present = "command")]
    url: Option<String>,
    /// The server, after `--`, if it is a program to start
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// A header, as it is written on the command line.
fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("a header is `NAME:VALUE`")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

#[derive(Clone, Copy, ValueEnum)]
enum PolicyName {
    Strict,
    Carry,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    Cosmetic,
    Semantic,
    Interaction,
    Safety,
}

impl From<Kind> for LossKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Cosmetic => Self::Cosmetic,
            Kind::Semantic => Self::Semantic,
            Kind::Interaction => Self::Interaction,
            Kind::Safety => Self::Safety,
        }
    }
}

/// What the bridge was told, ready to be used.
struct Setup {
    front: Front,
    served: RevisionSet,
    policy: Policy,
    losses: Arc<Losses>,
    wire: Wire,
    facts: ServerFacts,
}

/// Where clients come from, with what is known of the one over standard streams.
enum Front {
    Stdio(Greeting, Arc<Caller>),
    Http(SocketAddr, usize),
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    log::begin(arguments.log).map_err(anyhow::Error::msg)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start")?;
    let done = runtime.block_on(bridged(arguments));
    // A thread that reads standard input would be waited for as long as the client is silent.
    runtime.shutdown_background();
    match done {
        Ok(()) => Ok(Outcome {
            text: String::new(),
            code: 0,
        }),
        Err(error) => {
            eprintln!("error: {error:#}");
            Ok(Outcome {
                text: String::new(),
                code: 1,
            })
        }
    }
}

async fn bridged(arguments: &Arguments) -> anyhow::Result<()> {
    let served: RevisionSet = match arguments.serve_only.is_empty() {
        true => RevisionSet::all(),
        false => arguments.serve_only.iter().copied().collect(),
    };
    let refused = arguments.refuse.iter().copied().map(LossKind::from);
    let losses = Losses::to(&arguments.losses, refused.collect())?;
    let target = match &arguments.url {
        Some(url) => Target::Url(url.clone(), arguments.header.clone()),
        None => Target::Command(arguments.command.clone()),
    };
    let wire = Wire::new(target, arguments.record.as_deref())?;
    let (front, caller) = match arguments.listen {
        Listen::Http(address) => (
            Front::Http(address, arguments.max_servers),
            Arc::new(identity::anyone()),
        ),
        // A client over stdio says in its first message what it can do, and so does the bridge then.
        Listen::Stdio => {
            let Some(greeting) = Greeting::wait().await? else {
                return Ok(());
            };
            let caller = Arc::new(greeting.caller());
            (Front::Stdio(greeting, Arc::clone(&caller)), caller)
        }
    };
    let spoken = match arguments.server_revision {
        Some(revision) => RevisionSet::none().with(revision),
        None => RevisionSet::all(),
    };
    let facts = upstream::probe(&wire.aside(), &caller, spoken).await?;
    let revision = facts.revision;
    let setup = Setup {
        front,
        served,
        policy: match arguments.policy {
            PolicyName::Strict => Policy::Strict,
            PolicyName::Carry => Policy::Carry,
        },
        losses: Arc::new(losses),
        wire,
        facts: upstream::own_words(facts),
    };
    match revision.spoken(setup) {
        Some(bridge) => bridge.await,
        None => {
            bail!("revision {revision} is spoken by nobody; name another one by --server-revision")
        }
    }
}

impl WithSpoken for Setup {
    type Output = Pin<Box<dyn Future<Output = anyhow::Result<()>>>>;

    fn with<App: Spoken>(self) -> Self::Output {
        Box::pin(self.bridge::<App>())
    }
}

impl Setup {
    /// Bridges to servers of the revision `App`.
    async fn bridge<App: Spoken>(self) -> anyhow::Result<()> {
        let Self {
            front,
            served,
            policy,
            losses,
            wire,
            facts,
        } = self;
        let told = Arc::clone(&losses);
        let server = Server::<App>::new(profile(facts)?)?
            .serving(served)
            .with_policy(policy)
            .with_other_methods()
            .on_loss(move |lost| {
                told.tell(
                    End::Client,
                    lost.method,
                    lost.peer,
                    lost.request,
                    lost.losses,
                );
            });
        let lost = Arc::clone(&losses);
        let start: Start = Arc::new(move |caller| {
            let (wire, losses) = (wire.clone(), Arc::clone(&lost));
            Box::pin(async move { Upstream::start::<App>(&wire, &caller, policy, losses).await })
        });
        let (served, servers) = match front {
            Front::Stdio(greeting, caller) => {
                let upstream = start(caller).await?;
                let ended = upstream.clone();
                let servers = Servers::one(upstream, start);
                let join = Join::new(servers.clone(), losses, App::REVISION);
                let ended = async move { ended.ended().await };
                let served = listen::over_stdio(greeting, server, join, ended).await;
                (served, servers)
            }
            Front::Http(address, most) => {
                let servers = Servers::each(start, most);
                let join = Join::new(servers.clone(), losses, App::REVISION);
                (listen::over_http(address, server, join).await, servers)
            }
        };
        servers.close().await;
        served
    }
}

/// What the bridge says of itself to clients: what its server says.
fn profile(facts: ServerFacts) -> anyhow::Result<Profile> {
    let info = match facts.info {
        Some(info) => info,
        None => Json::from_text(r#"{"name":"unnamed","version":"0"}"#)?,
    };
    let capabilities = match facts.capabilities {
        Some(capabilities) => capabilities,
        None => Json::from_text("{}")?,
    };
    let profile = Profile::new(&info, &capabilities);
    Ok(match facts.instructions {
        Some(instructions) => profile.with_instructions(instructions),
        None => profile,
    })
}
