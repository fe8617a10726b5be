//! The revision that a bridge would speak with the server for a client of each revision, and the losses of its results.

use std::collections::BTreeMap;

use mcp_revisions::sansio::client::lifecycle::order;
use mcp_revisions_core::{Context, Part, Revision, RevisionSet, Route, Subject};
use mcp_wire::Direction;

use super::state::{BridgeRow, Probe, ReadPage};

/// Converts the results of the server to the revision of each client.
pub(super) fn run(probe: &mut Probe) {
    let spoken: RevisionSet = probe.spoken().collect();
    let of_client = |&client: &Revision| {
        let server = order(client, spoken).into_iter().next()?;
        let losses = if server == client {
            Vec::new()
        } else {
            losses(&probe.pages, server, client)
        };
        Some(BridgeRow {
            client,
            server,
            losses,
        })
    };
    probe.bridge = Revision::NEGOTIATED.iter().filter_map(of_client).collect();
}

/// Returns the losses of the results by their rules. Lists were read in the latest revision of a lifecycle only: an earlier one of
/// the server has no more than that.
fn losses(
    pages: &[ReadPage],
    server: Revision,
    client: Revision,
) -> Vec<(String, String, usize, String)> {
    let is_read = |page: &&ReadPage| page.revision.lifecycle() == server.lifecycle();
    let mut by_rule: BTreeMap<String, (String, usize, String)> = BTreeMap::new();
    for page in pages.iter().filter(is_read) {
        let sender = Some(Direction::ClientToServer);
        let subject = Subject::Method(page.method, Part::Result, sender);
        let route = Route::between(page.revision, client);
        let converted =
            route.and_then(|route| route.convert(subject, page.result.text(), Context::default()));
        let lost = match converted {
            Ok((_, losses)) => losses,
            Err(why) => {
                let row = (String::new(), 1, format!("{}: {why}", page.method));
                by_rule.insert("not converted".to_owned(), row);
                continue;
            }
        };
        for loss in lost.iter().filter(|loss| loss.is_loss()) {
            let place = || format!("{}{}", page.method, loss.pointer());
            let severity = loss.severity().to_string();
            let row = by_rule.entry(loss.rule().to_owned());
            row.or_insert_with(|| (severity, 0, place())).1 += 1;
        }
    }
    let rows = by_rule.into_iter();
    rows.map(|(rule, (severity, count, place))| (rule, severity, count, place))
        .collect()
}
