//! A change as a card of the page: its shapes side by side, verdicts, witness and facts.

use serde::Serialize;

use super::super::{change_line, verdict_word};
use crate::diff::{End, Row, Verdict, View, WirePath, direction_id, explain};

#[derive(Serialize)]
pub(super) struct Card<'d> {
    id: String,
    fingerprint: &'d str,
    level: &'static str,
    kind: &'static str,
    main: Option<PathView>,
    subject: &'d str,
    more: usize,
    change: String,
    directions: String,
    methods: String,
    paths: Vec<String>,
    from: Vec<String>,
    before: Option<ShapeView<'d>>,
    after: Option<ShapeView<'d>>,
    verdicts: [VerdictView; 2],
    on_the_wire: bool,
    witnesses: Vec<WitnessView>,
    rule: Option<&'d str>,
    errata: String,
    places: String,
    page: Option<&'d str>,
    level_reason: Option<&'d str>,
    crate_change: &'static str,
    means: &'static str,
    todo: &'static str,
}

/// A wire path in its parts.
#[derive(Serialize)]
pub(super) struct PathView {
    direction: &'static str,
    method: String,
    part: &'static str,
    path: String,
}

/// A shape and what is said above it.
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

#[derive(Serialize)]
pub(super) struct VerdictView {
    from: &'static str,
    to: &'static str,
    word: &'static str,
}

#[derive(Serialize)]
pub(super) struct WitnessView {
    sender: &'static str,
    refuses: &'static str,
    part: &'static str,
    json: String,
}

impl<'d> Card<'d> {
    pub(super) fn of(pair: usize, row: &'d Row) -> Self {
        let main = if row.to.is_empty() {
            &row.paths
        } else {
            &row.to
        };
        let list = |paths: &[WirePath]| paths.iter().map(ToString::to_string).collect::<Vec<_>>();
        let mut directions: Vec<&str> = row
            .paths
            .iter()
            .map(|path| direction_id(path.direction))
            .collect();
        directions.sort_unstable();
        directions.dedup();
        let mut methods: Vec<&str> = row.methods().collect();
        methods.sort_unstable();
        methods.dedup();
        let told = explain(row.kind);
        let places: Vec<String> = (row.places.iter())
            .map(|place| match (place.old.as_str(), place.new.as_str()) {
                (old, new) if old == new => old.to_owned(),
                ("", new) => new.to_owned(),
                (old, "") => old.to_owned(),
                (old, new) => format!("{old} → {new}"),
            })
            .filter(|place| !place.is_empty())
            .collect();
        Self {
            id: format!("p{pair}-{}", row.fingerprint),
            fingerprint: &row.fingerprint,
            level: row.level.id(),
            kind: row.kind.id(),
            main: main.first().map(|path| PathView {
                direction: direction_id(path.direction),
                method: path.method.clone(),
                part: path.part.id(),
                path: path.path.clone(),
            }),
            subject: row.subject.as_deref().unwrap_or_default(),
            more: main.len().saturating_sub(1),
            change: match row.from.first() {
                Some(from) => format!("from {from}"),
                None => change_line(row),
            },
            directions: directions.join(" "),
            methods: methods.join(" "),
            paths: list(main),
            from: list(&row.from),
            before: row.before.as_ref().map(ShapeView::of),
            after: row.after.as_ref().map(ShapeView::of),
            verdicts: [
                verdict("old", "new", row.verdicts.old_to_new),
                verdict("new", "old", row.verdicts.new_to_old),
            ],
            on_the_wire: row.kind.is_on_the_wire(),
            witnesses: row
                .witnesses
                .iter()
                .map(|witness| WitnessView {
                    sender: if witness.valid_in == End::Old {
                        "an old"
                    } else {
                        "a new"
                    },
                    refuses: if witness.valid_in == End::Old {
                        "new"
                    } else {
                        "old"
                    },
                    part: witness.part.id(),
                    json: serde_json::to_string_pretty(&witness.json).unwrap_or_default(),
                })
                .collect(),
            rule: row.rule.as_deref(),
            errata: row.errata.join(", "),
            places: places.join(", "),
            page: row.page.as_deref(),
            level_reason: row.level_reason.as_deref(),
            crate_change: row.crate_change.id(),
            means: told.means,
            todo: told.todo,
        }
    }
}

fn verdict(from: &'static str, to: &'static str, verdict: Verdict) -> VerdictView {
    VerdictView {
        from,
        to,
        word: verdict_word(verdict),
    }
}
