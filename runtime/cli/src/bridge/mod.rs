//! `mcp-rev bridge`: any client in front of any server, each spoken to in its own revision.
//!
//! ```text
//! client -- front (stdio, HTTP) -- Server<App> -- join -- Client<App> -- wire (a process, a URL) -- server
//! ```
//! `App` is the revision of the server, once that is known: what its client speaks as well is not converted at all.

mod front;
mod join;
mod losses;
mod upstream;
mod wire;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use mcp_registry::{LossKind, Policy, Revision, Spoken, WithSpoken};
use mcp_revisions::RevisionSet;
use mcp_revisions::server::{Profile, Server};
use mcp_wire::Json;

use crate::Outcome;
use front::{Greeting, Listen};
use join::Join;
use losses::Losses;
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
    /// Write down what goes to and from the server, for `mcp-rev transcript`
    #[arg(long, value_name = "FILE")]
    record: Option<String>,
    /// A header of each request to a server at a URL, such as `Authorization:Bearer TOKEN`
    #[arg(long, value_name = "NAME:VALUE", value_parser = header, requires = "url")]
    header: Vec<(String, String)>,
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
    listen: Listen,
    served: RevisionSet,
    policy: Policy,
    losses: Arc<Losses>,
    wire: Wire,
    greeting: Greeting,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
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
    // A client over stdio says in its first message what it can do, and so does the bridge then.
    let Some(greeting) = arguments.listen.greeting().await? else {
        return Ok(());
    };
    let revision = match arguments.server_revision {
        Some(revision) => revision,
        None => upstream::probe(&wire.aside(), &greeting).await?,
    };
    let setup = Setup {
        listen: arguments.listen.clone(),
        served,
        policy: match arguments.policy {
            PolicyName::Strict => Policy::Strict,
            PolicyName::Carry => Policy::Carry,
        },
        losses: Arc::new(losses),
        wire,
        greeting,
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
    /// Bridges to a server of the revision `App`.
    async fn bridge<App: Spoken>(self) -> anyhow::Result<()> {
        let Self {
            listen,
            served,
            policy,
            losses,
            wire,
            greeting,
        } = self;
        let (upstream, facts) =
            Upstream::start::<App>(&wire, &greeting, policy, Arc::clone(&losses)).await?;
        let named = || Json::from_text(r#"{"name":"unnamed","version":"0"}"#);
        let info = match facts.info {
            Some(info) => info,
            None => named()?,
        };
        let capabilities = match facts.capabilities {
            Some(capabilities) => capabilities,
            None => Json::from_text("{}")?,
        };
        let mut profile = Profile::new(&info, &capabilities);
        if let Some(instructions) = facts.instructions {
            profile = profile.with_instructions(instructions);
        }
        let told = Arc::clone(&losses);
        let server = Server::<App>::new(profile)?
            .serving(served)
            .with_policy(policy)
            .on_loss(move |lost| told.tell("client", lost.method, lost.peer, lost.losses));
        let join = Join::new(upstream.clone(), losses, App::REVISION);
        let served = front::serve(&listen, server, join, greeting, &upstream).await;
        upstream.close().await;
        served
    }
}
