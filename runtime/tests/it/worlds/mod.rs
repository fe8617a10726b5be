//! Small worlds, explored: a client of each kind joined to a server of each kind by a channel that delivers, loses and
//! ends; a call that asks back, a list, a cancellation, a subscription. Every state up to a depth is visited once.
//!
//! In each of them: nothing is answered twice, or in another's revision; and from each of them there is a way on, at
//! whose end every request has its one answer, and nothing is left on either side.
//!
//! A state is reached by replaying what led there, since a connection with its adapters is not copied.
//! `WORLDS_DEPTH=10 cargo test -p mcp-revisions --test it worlds -- --nocapture` goes deeper, and says how far it went;
//! `WORLDS_STEPS=1000000` walks as far as that.

mod asker;
mod http;
mod lines;
mod search;
mod talk;
mod tasks;

use mcp_revisions::sansio::client::Channel;
use mcp_revisions::{Revision, RevisionSet};
use search::World;
use talk::{Ends, ends};

/// How deep a run goes unless told otherwise.
const DEPTH: usize = 5;

fn number(variable: &str, otherwise: usize) -> usize {
    let said = std::env::var(variable).ok();
    said.and_then(|number| number.parse().ok())
        .unwrap_or(otherwise)
}

/// A client and a server of each kind.
fn pairs(apps: (Revision, Revision), channel: Channel) -> Vec<Ends> {
    let kinds = [
        RevisionSet::handshake(),
        RevisionSet::all(),
        RevisionSet::per_request(),
    ];
    let pairs = kinds
        .iter()
        .flat_map(|ours| kinds.map(|theirs| (*ours, theirs)));
    pairs
        .map(|(ours, theirs)| ends(apps, channel, ours, theirs))
        .collect()
}

/// Visits every state of the worlds of two applications.
fn worlds<'e, W: World>(pairs: &'e [Ends], begin: impl Fn(&'e Ends) -> W) {
    let depth = number("WORLDS_DEPTH", DEPTH);
    let states = pairs
        .iter()
        .map(|ends| search::explore(|| begin(ends), depth));
    let states: usize = states.sum();
    let (client, server) = pairs[0].apps;
    println!("{states} states of {client} with {server} to a depth of {depth}");
    assert!(states > 1_000, "{states} states are not an exploration");
}

/// Walks in the worlds of two applications.
fn walks<'e, W: World>(pairs: &'e [Ends], begin: impl Fn(&'e Ends) -> W) {
    let wanted = number("WORLDS_STEPS", 25_000);
    let (mut steps, mut seed) = (0, 0);
    while steps < wanted {
        for ends in pairs {
            seed += 1;
            steps += search::walk(begin(ends), seed, 100);
        }
    }
    let (client, server) = pairs[0].apps;
    println!("{steps} steps of {client} with {server}");
}

/// Both sorts of search, of both sorts of channels, for a pair of applications.
macro_rules! searches {
    ($($name:ident: $client:ident, $server:ident;)*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn every_state_over_lines() {
                let pairs = pairs((Revision::$client, Revision::$server), Channel::Stdio);
                worlds(&pairs, |ends| lines::Lines::new(ends, false));
            }

            #[test]
            fn every_state_over_http() {
                let pairs = pairs((Revision::$client, Revision::$server), Channel::Http);
                worlds(&pairs, |ends| http::Http::new(ends, false));
            }

            #[test]
            fn every_state_over_http_with_a_quick_client() {
                let pairs = pairs((Revision::$client, Revision::$server), Channel::Http);
                worlds(&pairs, |ends| http::Http::new(ends, false).with_quick_client());
            }

            #[test]
            fn walks_over_lines() {
                let pairs = pairs((Revision::$client, Revision::$server), Channel::Stdio);
                walks(&pairs, |ends| lines::Lines::new(ends, true));
            }

            #[test]
            fn walks_over_http() {
                let pairs = pairs((Revision::$client, Revision::$server), Channel::Http);
                walks(&pairs, |ends| http::Http::new(ends, true));
            }

            #[test]
            fn walks_over_http_with_a_quick_client() {
                let pairs = pairs((Revision::$client, Revision::$server), Channel::Http);
                walks(&pairs, |ends| http::Http::new(ends, true).with_quick_client());
            }
        }
    )*};
}

searches! {
    older_applications: V2025_11_25, V2025_11_25;
    an_older_client_and_a_per_request_server: V2025_11_25, V2026_07_28;
    a_per_request_client_and_an_older_server: V2026_07_28, V2025_11_25;
    per_request_applications: V2026_07_28, V2026_07_28;
}
