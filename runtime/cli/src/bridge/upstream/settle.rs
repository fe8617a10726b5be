//! The first words with a server: which revision it speaks, and what it is.

use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use mcp_registry::{Outcome, Policy, Revision, Spoken, Subject};
use mcp_revisions::RevisionSet;
use mcp_revisions::carrier::Incoming;
use mcp_revisions::client::{Client, Connection, Event, Options, Output, Profile, ServerFacts};
use mcp_revisions::server::Caller;

use crate::bridge::identity;
use crate::bridge::wire::{Line, Wire};

/// How long a server may take until it has said what it speaks.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a connection to a server is told, on behalf of a client.
pub(super) fn options<App: Spoken>(wire: &Wire, caller: &Caller, policy: Policy) -> Options {
    let (info, capabilities) = identity::profile(caller, App::REVISION);
    Options::new(wire.channel(), Profile::new(&info, &capabilities))
        .with_policy(policy)
        .with_other_methods()
}

/// What a server is that is asked for nothing else, in the words of `App`.
///
/// # Errors
/// A server that cannot be started, or speaks none of these revisions.
pub(super) async fn probe<App: Spoken>(
    wire: &Wire,
    caller: &Caller,
    revisions: RevisionSet,
) -> anyhow::Result<ServerFacts> {
    let options = options::<App>(wire, caller, Policy::Strict).with_revisions(revisions);
    let mut connection = Connection::new(Client::<App>::new(options));
    let mut line = wire.start()?;
    let facts = settled(&mut connection, &mut line, Instant::now()).await?;
    line.end().await;
    Ok(facts)
}

/// Connects, and drives the connection until its revision is settled.
///
/// # Errors
/// A server that says nothing of use, or takes too long.
pub(super) async fn settled<App: Spoken>(
    connection: &mut Connection<Client<App>>,
    line: &mut Line,
    start: Instant,
) -> anyhow::Result<ServerFacts> {
    connection.connect(start.elapsed())?;
    let facts = tokio::time::timeout(PATIENCE, driven(connection, line, start));
    facts
        .await
        .context("the server does not say which revision it speaks")?
}

async fn driven<App: Spoken>(
    connection: &mut Connection<Client<App>>,
    line: &mut Line,
    start: Instant,
) -> anyhow::Result<ServerFacts> {
    let mut is_over = false;
    loop {
        while let Some(output) = connection.poll() {
            match output {
                Output::Send(post) => line.send(post),
                Output::Restart => match line.restart() {
                    true => is_over = false,
                    false => connection.closed(start.elapsed()),
                },
                Output::Event(Event::Settled(facts)) => return Ok(facts),
                Output::Close(exchange) => line.close(exchange),
                Output::Event(_) => {}
            }
        }
        if is_over {
            bail!("the server ended before it said which revision it speaks");
        }
        if connection.pending() == 0 && connection.wake_at().is_none() {
            bail!("the server did not say which revision it speaks");
        }
        tokio::select! {
            came = line.next() => {
                is_over = matches!(came, Incoming::Closed);
                hand_in(connection, came, start.elapsed());
            }
            () = sleep_until(connection.wake_at(), start) => connection.wake(start.elapsed()),
        }
    }
}

/// Hands in what came.
pub(super) fn hand_in<App: Spoken>(
    connection: &mut Connection<Client<App>>,
    came: Incoming,
    now: Duration,
) {
    match came {
        Incoming::Message { exchange, text } => {
            connection.receive(exchange, &text, now);
        }
        Incoming::Answered {
            exchange,
            status,
            session,
            body,
        } => connection.answered(exchange, status, session.as_deref(), body.as_deref(), now),
        Incoming::Ended(exchange) => connection.ended(exchange, now),
        Incoming::Closed => connection.closed(now),
    }
}

pub(super) async fn sleep_until(at: Option<Duration>, start: Instant) {
    match at {
        Some(at) => tokio::time::sleep(at.saturating_sub(start.elapsed())).await,
        None => std::future::pending().await,
    }
}

/// What a server said of itself in one revision, in the words of another.
pub(super) fn in_words_of(facts: ServerFacts, from: Revision, to: Revision) -> ServerFacts {
    let said = |name: &str, part: Option<mcp_wire::Json>| {
        let cx = mcp_registry::Context::new(Policy::Strict);
        let text = part?;
        let carried = mcp_registry::convert(Subject::Type(name), from, to, text.text(), cx);
        carried.ok().and_then(Outcome::value)
    };
    ServerFacts {
        info: said("Implementation", facts.info),
        capabilities: said("ServerCapabilities", facts.capabilities),
        ..facts
    }
}
