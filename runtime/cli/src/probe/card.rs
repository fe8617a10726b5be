//! The server card below the endpoint, compared with its schema and with the server's introduction.

use std::time::Duration;

use mcp_revisions_core::discovery::{CARD_PATH, CARD_TYPE, is_card_name};
use mcp_revisions_core::{Revision, RevisionSet};
use serde_json::Value;
use tokio::time::timeout;

use super::link::{ProbeLink, shown};
use super::state::Probe;
use crate::message::as_type;
use crate::report::CheckVerdict;
use crate::revisions::known_type;

/// The type of a card.
const CARD: &str = "ServerCard";
/// The end of the URL of its schema, in each of its versions.
const SCHEMA: &str = "/server-card.schema.json";
/// Time for the card.
const TIME: Duration = Duration::from_secs(10);
/// Maximum number of bytes of a card that every client reads.
const BYTES: usize = 256 << 10;

/// Reads the card, if there is one, and reports its mistakes.
pub(super) async fn run(probe: &mut Probe) {
    let ProbeLink::Http(http) = &probe.link else {
        return;
    };
    let bare = http.url.split(['?', '#']).next().unwrap_or_default();
    let endpoint = bare.trim_end_matches('/').to_owned();
    let url = format!("{endpoint}{CARD_PATH}");
    let accept = [("Accept".to_owned(), CARD_TYPE.to_owned())];
    let reading = async {
        let sent = http.raw.send("GET", &url, &accept, String::new()).await;
        let mut response = sent.ok().filter(|it| it.status == 200)?;
        let body = response.next().await.unwrap_or_default();
        Some((response, body))
    };
    let Ok(Some((response, body))) = timeout(TIME, reading).await else {
        return;
    };
    let named = response.header("content-type").unwrap_or_default();
    let kind = named.split(';').next().unwrap_or_default().trim();
    let text = String::from_utf8_lossy(&body).into_owned();
    let has_type = kind.eq_ignore_ascii_case(CARD_TYPE);
    // Some servers answer every path.
    if !has_type && !text.contains(SCHEMA) {
        return;
    }
    let mut faults = Vec::new();
    if !has_type {
        faults.push(format!("its media type is `{}`", shown(kind)));
    }
    if response.header("access-control-allow-origin") != Some("*") {
        faults.push(
            "pages of other origins may not read it: no `Access-Control-Allow-Origin: *`"
                .to_owned(),
        );
    }
    if body.len() > BYTES {
        faults.push(format!(
            "it has {} bytes: clients read {BYTES} at most",
            body.len()
        ));
    }
    for found in faults {
        probe.report("server-card-served", None, url.clone(), found);
    }
    let refused = known_type(Revision::LATEST, CARD).map(|ty| as_type(ty, &text).verdict);
    if let Some(CheckVerdict::Refused(diagnostic)) = refused {
        let place = format!("{url} {}", diagnostic.pointer);
        probe.report("server-card", None, place, shown(&diagnostic.message));
        return;
    }
    let card: Value = serde_json::from_str(&text).unwrap_or_default();
    let member = |name: &str| card[name].as_str().unwrap_or_default();
    let mut faults = Vec::new();
    if !is_card_name(member("name")) {
        faults.push(format!("/name is {:?}", shown(member("name"))));
    }
    for (name, most) in [("description", 100), ("title", 100), ("version", 255)] {
        let length = member(name).chars().count();
        let is_empty = length == 0 && !card[name].is_null() && name != "version";
        if length > most || is_empty {
            faults.push(format!(
                "/{name} has {length} characters: 1 to {most} are allowed"
            ));
        }
    }
    let remotes = card["remotes"].as_array().map_or(&[][..], Vec::as_slice);
    let is_own = |remote: &&Value| {
        let named = remote["url"].as_str().unwrap_or_default();
        named.trim_end_matches('/').eq_ignore_ascii_case(&endpoint)
    };
    let own = remotes.iter().find(is_own);
    if own.is_none() {
        faults.push(format!(
            "none of its {} endpoints is this one",
            remotes.len()
        ));
    }
    for found in faults {
        probe.report("server-card", None, url.clone(), found);
    }
    let listed = own.and_then(|own| own["supportedProtocolVersions"].as_array());
    let entries = listed.map_or(&[][..], Vec::as_slice).iter();
    let versions: Vec<&str> = entries.filter_map(Value::as_str).collect();
    let [name, version, listed] =
        [member("name"), member("version"), &versions.join(", ")].map(shown);
    probe.facts.push(format!(
        "server card: {name} {version}, protocol versions {listed}"
    ));
    if probe.is_reached {
        compare(probe, &url, &version, &versions);
    }
}

/// Compares a card with the server's introduction.
fn compare(probe: &mut Probe, url: &str, version: &str, versions: &[&str]) {
    let mut faults = Vec::new();
    let said = probe.server.as_ref().and_then(|it| it["version"].as_str());
    if let Some(said) = said.map(shown)
        && said != version
    {
        faults.push(format!(
            "its version is {version}, and the server says {said}"
        ));
    }
    let revisions: RevisionSet = probe.spoken().collect();
    let spoken = revisions.protocol_versions();
    let tried = |version: &&&str| {
        let mut trials = probe.trials.iter();
        trials.any(|trial| trial.revision.protocol_version() == **version)
    };
    let lists = |missing: Vec<&&str>| {
        let named: Vec<&str> = missing.into_iter().copied().collect();
        named.join(", ")
    };
    let refused = versions.iter().filter(tried);
    let refused = lists(refused.filter(|it| !spoken.contains(it)).collect());
    let silent = lists(spoken.iter().filter(|it| !versions.contains(it)).collect());
    if !refused.is_empty() {
        faults.push(format!(
            "it lists {refused}, which the server does not speak"
        ));
    }
    if !versions.is_empty() && !silent.is_empty() {
        faults.push(format!(
            "it does not list {silent}, which the server speaks"
        ));
    }
    for found in faults {
        probe.report("server-card-differs", None, url.to_owned(), found);
    }
}
