//! A change as a card of the page: its shapes side by side, verdicts, witness and facts.

use std::collections::BTreeSet;

use serde::Serialize;

use super::super::themes::{Change, main_paths};
use super::super::{rules_met, verdict_word};
use crate::diff::{Diff, View, WirePath, direction_id};

#[derive(Serialize)]
pub(super) struct Card<'d> {
    /// The link to its first row.
    id: String,
    /// The rows that it tells, each with a link of its own.
    rows: Vec<RowView<'d>>,
    level: &'static str,
    kind: &'static str,
    main: Option<PathView>,
    subject: &'d str,
    more: usize,
    change: String,
    directions: String,
    methods: String,
    from: Vec<&'d WirePath>,
    before: Option<ShapeView<'d>>,
    after: Option<ShapeView<'d>>,
    /// Sender, receiver, and what that one makes of it.
    verdicts: [(&'static str, &'static str, &'static str); 2],
    on_the_wire: bool,
    /// Sender, part of the exchange, the receiver that refuses it, and the message.
    witnesses: Vec<(&'static str, &'static str, &'static str, String)>,
    /// The rules of each step; the only step of an adjacent pair has no name.
    rules: Vec<(String, Vec<String>)>,
    errata: Option<String>,
    places: String,
    page: Option<&'d str>,
    level_reason: Option<&'d str>,
    crate_change: &'static str,
    means: &'static str,
    todo: &'static str,
}

/// A row of the diff: its link, and where it is.
#[derive(Serialize)]
pub(super) struct RowView<'d> {
    id: String,
    fingerprint: &'d str,
    paths: &'d [WirePath],
}

/// A wire path in its parts.
#[derive(Serialize)]
pub(super) struct PathView {
    direction: &'static str,
    method: String,
    part: &'static str,
    path: String,
}

/// A shape and its heading.
#[derive(Serialize)]
pub(super) struct ShapeView<'d> {
    caption: String,
    outline: &'d str,
}

impl<'d> ShapeView<'d> {
    fn of(view: &'d View) -> Self {
        let presence = view
            .required
            .map(|required| if required { "required" } else { "optional" });
        // A shape that has no name says nothing above that it does not say below.
        let named =
            view.text.chars().all(|letter| letter.is_alphanumeric()) && view.text != view.outline;
        let name = Some(view.text.as_str()).filter(|_| named && !view.pointer.is_empty());
        let words: Vec<&str> = presence.into_iter().chain(name).collect();
        Self {
            caption: words.join(" "),
            outline: &view.outline,
        }
    }
}

impl<'d> Card<'d> {
    pub(super) fn of(pair: &str, diff: &'d Diff, change: &Change<'d>) -> Self {
        let row = change.lead();
        let main: Vec<&WirePath> = change.main().collect();
        let paths = || change.rows().iter().flat_map(|row| &row.paths);
        let directions = paths().map(|path| direction_id(path.direction));
        let methods = paths().map(|path| path.method.as_str());
        let id = |fingerprint: &str| format!("{pair}.{fingerprint}");
        let told = row.kind.explain();
        let mut places: Vec<String> = (change.rows().iter().flat_map(|row| &row.places))
            .map(|place| match (place.old.as_str(), place.new.as_str()) {
                (old, new) if old == new => old.to_owned(),
                ("", new) => new.to_owned(),
                (old, "") => old.to_owned(),
                (old, new) => format!("{old} → {new}"),
            })
            .filter(|place| !place.is_empty())
            .collect();
        places.dedup();
        Self {
            id: id(&row.fingerprint),
            rows: change
                .rows()
                .iter()
                .map(|row| RowView {
                    id: id(&row.fingerprint),
                    fingerprint: &row.fingerprint,
                    paths: main_paths(row),
                })
                .collect(),
            level: row.level.id(),
            kind: row.kind.id(),
            main: main.first().map(|path| PathView {
                direction: direction_id(path.direction),
                method: path.method.clone(),
                part: path.part.id(),
                path: path.path().to_owned(),
            }),
            subject: row.subject.as_deref().unwrap_or_default(),
            more: main.len().saturating_sub(1),
            change: match change.from().next() {
                Some(from) => format!("from {from}"),
                None => change.line(),
            },
            directions: each_once(directions),
            methods: each_once(methods),
            from: change.from().collect(),
            before: row.before.as_ref().map(ShapeView::of),
            after: row.after.as_ref().map(ShapeView::of),
            verdicts: [
                ("old", "new", verdict_word(row.verdicts.old_to_new)),
                ("new", "old", verdict_word(row.verdicts.new_to_old)),
            ],
            on_the_wire: row.kind.is_on_the_wire(),
            witnesses: (row.witnesses.iter())
                .map(|witness| {
                    let sender = witness.valid_in.of("an old", "a new");
                    let receiver = witness.valid_in.of("a new", "an old");
                    let json = serde_json::to_string_pretty(&witness.json).unwrap_or_default();
                    (sender, witness.part.id(), receiver, json)
                })
                .collect(),
            rules: rules_met(diff, change),
            errata: change.errata(),
            places: places.join(", "),
            page: row.page.as_deref(),
            level_reason: row.level_reason.as_deref(),
            crate_change: row.crate_change.id(),
            means: told.means,
            todo: told.todo,
        }
    }
}

fn each_once<'w>(words: impl Iterator<Item = &'w str>) -> String {
    let words: BTreeSet<&str> = words.collect();
    words.into_iter().collect::<Vec<_>>().join(" ")
}
