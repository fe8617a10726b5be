//! Facts of the rule files that hold for a range of revisions: where they stand, and the edits that move their ends.

use std::ops::Range;

use super::SpecDirectory;
use super::sheet::{self, SheetEntry, TextEdit};
use mcp_revisions_schema::spec::range::Order;
use mcp_revisions_schema::spec::rules::RuleFile;
use mcp_revisions_schema::spec::{DOCS, REVISIONS, schema_name};
use mcp_revisions_schema::{Error, SpecDiagnostic};
use serde_json::Value;

/// The name of a fact, as it is written on the command line and in `revisions.toml`: `errors/header/Accept`.
pub type Fact = String;

/// A fact that does not hold for a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// The fact.
    pub fact: Fact,
    /// Why not.
    pub why: String,
}

/// The key of the first revision that a row holds for, and the table of doc lines that hold from a revision on.
const SINCE: &str = "since";
/// The key of the last one.
const UNTIL: &str = "until";

/// A row with a range, or the doc lines of a type that have one.
#[derive(Clone, Debug)]
pub(super) struct RangedRow {
    pub(super) fact: Fact,
    /// The file, below the spec directory.
    pub(super) file: String,
    pub(super) since: String,
    pub(super) until: Option<String>,
    /// The row, or the lines.
    entries: Vec<SheetEntry>,
}

impl SpecDirectory {
    /// Returns the facts of a revision that have a range: its errata, rows and doc lines. Fails for a file that is not TOML.
    pub fn facts(&self, id: &str) -> Result<Vec<Fact>, Error> {
        let mut held = self.held(&self.order()?.0, id)?;
        let schema = self.text(&schema_name(id));
        // Doc lines of a definition that is gone say nothing of the revision.
        held.retain(|one| !one.is_of_lines() || one.is_defined_in(schema));
        let mut facts: Vec<Fact> = held.into_iter().map(|held| held.fact).collect();
        facts.dedup();
        Ok(facts)
    }

    /// Everything that holds for a range of revisions, in the order of files and lines.
    pub(super) fn ranged(&self) -> Result<Vec<RangedRow>, Error> {
        let mut all = Vec::new();
        for file in self.files.keys() {
            all.extend(self.ranged_of(file)?);
        }
        Ok(all)
    }

    fn ranged_of(&self, file: &str) -> Result<Vec<RangedRow>, Error> {
        let mut all: Vec<RangedRow> = Vec::new();
        let Some(stem) = shared(file) else {
            return Ok(all);
        };
        for entry in self.entries(file)? {
            let Some(held) = RangedRow::of(file, stem, entry) else {
                continue;
            };
            let is_one = |other: &&mut RangedRow| held.is_of_lines() && other.is_still(&held);
            match all.iter_mut().find(is_one) {
                Some(other) => {
                    other.entries.extend(held.entries);
                    other.until = other.until.take().or(held.until);
                }
                None => all.push(held),
            }
        }
        Ok(all)
    }

    /// Those that hold for a revision.
    pub(super) fn held(&self, order: &Order, id: &str) -> Result<Vec<RangedRow>, Error> {
        let mut all = self.ranged()?;
        all.retain(|held| held.covers(order, id));
        Ok(all)
    }

    /// Changes facts in their files.
    pub(super) fn change(
        &mut self,
        mut changes: Vec<(RangedRow, FactChange)>,
    ) -> Result<(), Error> {
        // From the end of each file, so that the places before stay true.
        changes.sort_by_key(|(held, _)| {
            std::cmp::Reverse(held.entries.first().map(|it| it.span.start))
        });
        for (mut held, change) in changes {
            // The lines of a type may stand apart, with others of the changes between them.
            if held.is_of_lines() {
                let mut now = self.ranged_of(&held.file)?.into_iter();
                held = now.find(|now| now.is_still(&held)).unwrap_or(held);
            }
            let RuleFile { path, text, .. } = self.file(&held.file);
            let text = match change {
                FactChange::Begins(id) => sheet::edited(&text, held.begins(&text, &id)),
                FactChange::Ends(id) => held.ending(&text, &id),
                FactChange::Goes => sheet::without(&path, &text, &held.entries)?,
            };
            self.files.insert(held.file, text);
        }
        Ok(())
    }
}

/// Returns the name of a rule file that all revisions share, without its ending.
pub(super) fn shared(file: &str) -> Option<&str> {
    let stem = file.strip_suffix(".toml")?;
    (!stem.contains('/') && file != REVISIONS).then_some(stem)
}

/// Returns whether an entry names a revision otherwise than by a range, alone or as one side of a pair.
pub(super) fn names(entry: &SheetEntry, id: &str) -> bool {
    let pair = |text: &str| {
        let pair = text.split_once("..");
        pair.is_some_and(|(old, new)| old == id || new == id)
    };
    let is_named = |text: &String| text == id || pair(text);
    let named = |(key, text, _): &(String, String, _)| {
        ![SINCE, UNTIL].contains(&key.as_str()) && is_named(text)
    };
    (entry.table.iter().any(|name| pair(name)) || is_named(&entry.name))
        || entry.texts.iter().any(named)
}

impl RangedRow {
    fn of(file: &str, stem: &str, entry: SheetEntry) -> Option<Self> {
        let lines = || {
            let at = entry.table.iter().position(|name| name == SINCE)?;
            let (section, since) = (entry.table.first()?, entry.table.get(at + 1)?);
            Some((section.clone(), since.clone()))
        };
        let (fact, since, until) = match lines().filter(|_| file == DOCS) {
            Some((section, since)) => {
                let own = entry.name == UNTIL && entry.table.len() == 3;
                let until = own.then(|| entry.texts.first().map(|(_, text, _)| text.clone()));
                (format!("{stem}/{section}"), since, until.flatten())
            }
            None => {
                let since = entry.text_of(SINCE)?.to_owned();
                let until = entry.text_of(UNTIL).map(str::to_owned);
                let kind = match stem {
                    "errata" => String::new(),
                    _ => format!("{}/", entry.table.join("/")),
                };
                (format!("{stem}/{kind}{}", entry.name), since, until)
            }
        };
        Some(Self {
            fact,
            file: file.to_owned(),
            since,
            until,
            entries: vec![entry],
        })
    }

    /// Returns whether the canonical text of a schema has the definition that lines are about.
    fn is_defined_in(&self, schema: &str) -> bool {
        let place = self.fact.split_once('/').map_or("", |(_, place)| place);
        let name = place.split('.').next().unwrap_or(place);
        schema.contains(&format!("\n    {}: ", Value::from(name)))
    }

    fn is_of_lines(&self) -> bool {
        self.file == DOCS
    }

    /// Returns whether this is the same one, in texts before and after an edit of its end.
    pub(super) fn is_still(&self, other: &Self) -> bool {
        self.file == other.file && self.fact == other.fact && self.since == other.since
    }

    pub(super) fn covers(&self, order: &Order, id: &str) -> bool {
        order.holds(&self.since, self.until.as_deref(), id)
    }

    /// Returns the change of a row that does not hold for a revision: it ends before that, or begins after it.
    ///
    /// Nothing, where it holds before the revision and in a release after it, or only by a release that the revision still is.
    pub(super) fn without(&self, order: &Order, id: &str) -> Option<FactChange> {
        let (from, to) = order.span(&self.since, self.until.as_deref()).ok()?;
        let at = order.at(id).filter(|at| (from..=to).contains(at))?;
        let next = at + 1;
        if self.since == id {
            let next = order.id(next).filter(|_| next <= to);
            return Some(next.map_or(FactChange::Goes, |next| FactChange::Begins(next.to_owned())));
        }
        let before = order.before(id).map(str::to_owned);
        let is_last = next > to || order.only_drafts(next);
        before.filter(|_| is_last).map(FactChange::Ends)
    }

    /// Returns whether a diagnostic is about one of its lines in the text of its file.
    pub(super) fn is_meant(&self, directory: &SpecDirectory, of: &SpecDiagnostic) -> bool {
        let text = directory.text(&self.file);
        let own = |line| sheet::at_line(text, &self.entries, line).is_some();
        *of.file == directory.path(&self.file) && of.line().is_some_and(own)
    }

    /// Returns the edits by which it begins with another revision.
    pub(super) fn begins(&self, text: &str, id: &str) -> Vec<TextEdit> {
        if !self.is_of_lines() {
            let row = self.entries.first();
            let place = row.and_then(|row| row.place_of(SINCE)).into_iter();
            return place.map(|place| (place, sheet::quoted(id))).collect();
        }
        let headers = self.headers(text).into_iter().filter_map(|header| {
            let line = text.get(header.clone())?;
            let is = |spelled: &str| line.rfind(&format!(".{spelled}")).map(|at| at + 1);
            let spellings = [sheet::quoted(&self.since), self.since.clone()];
            let (at, was) = spellings.iter().find_map(|was| Some((is(was)?, was)))?;
            let start = header.start + at;
            Some((start..start + was.len(), sheet::key(id)))
        });
        headers.collect()
    }

    /// Returns the headers of its tables of lines, each once.
    fn headers(&self, text: &str) -> Vec<Range<usize>> {
        let mut headers: Vec<_> = (self.entries.iter())
            .map(|entry| entry.header(text))
            .collect();
        headers.dedup();
        headers
    }

    /// Returns the text in which it ends with another revision.
    pub(super) fn ending(&self, text: &str, until: &str) -> String {
        let Some(first) = self.entries.first() else {
            return text.to_owned();
        };
        let header = first.header(text);
        let (stands, below) = if self.is_of_lines() {
            let mut own = self.entries.iter().filter(|entry| entry.name == UNTIL);
            let stands = own.find_map(|entry| entry.place_of(UNTIL));
            // The header of the table is made where only its members have one.
            if stands.is_none() && text[header.clone()].trim_end().ends_with(".members]") {
                let own = text[header.clone()].replace(".members]", "]");
                let line = format!("{own}{UNTIL} = {}\n", sheet::quoted(until));
                return sheet::edited(text, vec![(header.start..header.start, line)]);
            }
            (stands, Some(header.start..header.start))
        } else {
            (first.place_of(UNTIL), first.place_of(SINCE))
        };
        let until = sheet::quoted(until);
        sheet::with_value(
            text,
            (UNTIL, stands),
            below.map_or(text.len(), |place| place.end),
            Some(&until),
        )
    }
}

/// The fate of a fact.
#[derive(Clone, Debug)]
pub(super) enum FactChange {
    /// It begins with another revision.
    Begins(String),
    /// It ends with a revision.
    Ends(String),
    /// It goes.
    Goes,
}
