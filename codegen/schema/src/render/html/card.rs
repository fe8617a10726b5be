//! A change as a card of the page: its shapes side by side, verdicts, witness and facts.

use serde::Serialize;

use super::super::themes::Change;
use super::super::{rules_met, verdict_word};
use crate::diff::{Diff, Verdict, View, WirePath, direction_id};

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
    from: Vec<String>,
    before: Option<ShapeView<'d>>,
    after: Option<ShapeView<'d>>,
    verdicts: [VerdictView; 2],
    on_the_wire: bool,
    witnesses: Vec<WitnessView>,
    rules: Vec<RulesView>,
    errata: String,
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
    paths: Vec<String>,
}

/// The rules that a step has for a change; no step between adjacent revisions.
#[derive(Serialize)]
pub(super) struct RulesView {
    hop: String,
    rules: String,
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
    pub(super) fn of(pair: &str, diff: &'d Diff, change: &Change<'d>) -> Self {
        let row = change.lead();
        let main: Vec<&WirePath> = change.main().collect();
        let list = |paths: &[WirePath]| paths.iter().map(ToString::to_string).collect::<Vec<_>>();
        let paths = || change.rows().iter().flat_map(|row| &row.paths);
        let mut directions: Vec<&str> = paths().map(|path| direction_id(path.direction)).collect();
        directions.sort_unstable();
        directions.dedup();
        let mut methods: Vec<&str> = paths().map(|path| path.method.as_str()).collect();
        methods.sort_unstable();
        methods.dedup();
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
                    paths: list(if row.to.is_empty() {
                        &row.paths
                    } else {
                        &row.to
                    }),
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
            directions: directions.join(" "),
            methods: methods.join(" "),
            from: change.from().map(ToString::to_string).collect(),
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
                    sender: witness.valid_in.of("an old", "a new"),
                    refuses: witness.valid_in.of("new", "old"),
                    part: witness.part.id(),
                    json: serde_json::to_string_pretty(&witness.json).unwrap_or_default(),
                })
                .collect(),
            rules: rules_met(diff, change)
                .into_iter()
                .map(|(hop, rules)| RulesView {
                    hop,
                    rules: rules.join(", "),
                })
                .collect(),
            errata: change.errata().into_iter().collect::<Vec<_>>().join(", "),
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
