//! How long a diff takes: the reach is 100 ms for any pair, 1 s for the whole history as HTML, in proportion to the wire paths.

#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a bench on files that the tests have read before"
)]

use std::path::Path;

use mcp_revisions_diff::SideSources;
use mcp_revisions_diff::render::{html, text};
use mcp_revisions_schema::Spec;
use mcp_revisions_schema::pair::RevisionPair;

fn main() {
    divan::main();
}

fn spec() -> Spec {
    Spec::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec")).unwrap()
}

/// All adjacent revisions, and the first revision with the last.
fn pairs() -> Vec<RevisionPair> {
    let spec = spec();
    let ids: Vec<&str> = spec.revisions.iter().map(|one| one.id.as_str()).collect();
    let adjacent = ids.iter().zip(ids.iter().skip(1));
    let mut pairs: Vec<RevisionPair> = adjacent
        .map(|(old, new)| RevisionPair::new(*old, *new))
        .collect();
    pairs.extend(
        ids.first()
            .zip(ids.last())
            .map(|(old, new)| RevisionPair::new(*old, *new)),
    );
    pairs
}

/// What the command does for two ids, printing included, once the spec is read.
#[divan::bench(args = pairs())]
fn pair(bencher: divan::Bencher<'_, '_>, pair: &RevisionPair) {
    let spec = spec();
    let sources = SideSources::read(&spec).unwrap();
    bencher.bench(|| {
        let diff = mcp_revisions_diff::between(&sources, &pair.old, &pair.new, false).unwrap();
        text::render(&diff, text::TextOptions::default())
    });
}

/// The comparison alone, inputs open.
#[divan::bench]
fn compare_the_widest_pair(bencher: divan::Bencher<'_, '_>) {
    let spec = spec();
    let sources = SideSources::read(&spec).unwrap();
    let old = sources.open("2025-11-25", false).unwrap();
    let new = sources.open("2026-07-28", false).unwrap();
    bencher.bench(|| mcp_revisions_diff::compare(&old, &new));
}

/// `cargo xtask diff --all --format html`, from the files on.
#[divan::bench]
fn history_as_html(bencher: divan::Bencher<'_, '_>) {
    bencher.bench(|| {
        let spec = spec();
        let sources = SideSources::read(&spec).unwrap();
        let history = mcp_revisions_diff::history(&sources, &[], false).unwrap();
        html::render(&history).unwrap()
    });
}

/// Twice the wire paths, twice the time: methods that each reach one changed definition.
#[divan::bench(args = [1_000, 2_000, 4_000, 8_000])]
fn wire_paths(bencher: divan::Bencher<'_, '_>, methods: usize) {
    let spec = spec();
    let sources = SideSources::read(&spec).unwrap();
    let old = sources
        .of_text("old.json", &many_methods(methods, "string"), false)
        .unwrap();
    let new = sources
        .of_text("new.json", &many_methods(methods, "integer"), false)
        .unwrap();
    bencher.bench(|| mcp_revisions_diff::compare(&old, &new));
}

fn many_methods(count: usize, ty: &str) -> String {
    let mut definitions = vec![
        format!(r#""Shared":{{"type":"object","properties":{{"value":{{"type":"{ty}"}}}}}}"#),
        format!(
            r#""ClientNotification":{{"anyOf":[{}]}}"#,
            (0..count)
                .map(|index| format!(r##"{{"$ref":"#/$defs/M{index}Notification"}}"##))
                .collect::<Vec<_>>()
                .join(",")
        ),
    ];
    definitions.extend((0..count).map(|index| {
        format!(
            r##""M{index}Notification":{{"type":"object","required":["method"],"properties":{{"method":{{"type":"string","const":"notifications/m{index}"}},"params":{{"$ref":"#/$defs/Shared"}}}}}}"##
        )
    }));
    format!(
        r#"{{"$schema":"https://json-schema.org/draft/2020-12/schema","$defs":{{{}}}}}"#,
        definitions.join(",")
    )
}
