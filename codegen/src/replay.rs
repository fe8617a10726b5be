//! Replay: schemas of a draft, one after another, as if each had been imported on its day.
//!
//! Each is imported as the draft into a copy of the spec and generated; nothing is written.
//! So it shows what the generator would have made of the history of a draft, and what it would have asked.

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};

use crate::generate::{Generated, generate};
use crate::import::{ImportOptions, SpecDirectory, UpstreamFile};
use mcp_revisions_diff::{ChangeLevel, SideSources};
use mcp_revisions_schema::Error;
use mcp_revisions_schema::decision::{Decision, QuestionKind};
use mcp_revisions_schema::spec::{Lifecycle, RevisionStage, Spec};

/// A spec that drafts are tried on.
#[derive(Debug)]
pub struct Replay {
    spec: SpecDirectory,
    draft: String,
    before: Option<(String, String)>,
    /// What was open in the step before.
    open: SortedSet<Asked>,
}

/// What a decision is about, independent of its wording.
type Asked = (QuestionKind, String);

/// What became of one schema.
#[derive(Debug)]
pub struct Step {
    /// Rows of the diff to the schema before, by level; `None` for the first one.
    pub rows: Option<SortedMap<ChangeLevel, usize>>,
    /// The facts of the release before that do not hold for it.
    pub left: usize,
    /// All that is open, and was given a safe answer.
    pub open: Vec<Decision>,
    /// How many of these were not open in the step before.
    pub new: usize,
    /// The crates.
    pub generated: Generated,
}

/// What was made of one schema, without a look at the one before.
#[derive(Debug)]
pub struct Made {
    spec: Spec,
    left: usize,
    generated: Generated,
}

/// Why a schema did not go through.
#[derive(Debug)]
pub enum Refused {
    /// It is not a schema by itself: not JSON, or it refers to what is not there.
    Invalid(Error),
    /// The generator has no safe answer for it.
    Unanswered(Error),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Unanswered(error)
    }
}

impl Replay {
    /// Tries drafts on a spec, each in the place of the draft that stands there. Fails for a spec directory that does not hold.
    pub fn new(spec: SpecDirectory) -> Result<Self, Error> {
        let read = spec.spec()?;
        let draft = read
            .revisions
            .iter()
            .find(|of| of.status == RevisionStage::Draft)
            .map(|draft| draft.id.clone());
        Ok(Self {
            spec,
            draft: draft.unwrap_or_else(|| "draft".to_owned()),
            before: None,
            open: SortedSet::new(),
        })
    }

    /// Tries the next schema, a text in upstream form; `name` is the name of its file. Fails for a text that is not a schema, and
    /// everything for which no safe answer can be taken.
    pub fn step(&mut self, name: &str, text: &str) -> Result<Step, Refused> {
        let made = self.make(name, text);
        self.follow(name, text, made)
    }

    /// Imports and generates a schema as [`step`](Self::step) does; no schema depends on another one here, so that several
    /// threads can work on one each. Fails for a text that is not a schema, and everything for which no safe answer can be taken.
    pub fn make(&self, name: &str, text: &str) -> Result<Made, Refused> {
        let mut directory = self.spec.clone();
        let upstream = UpstreamFile::of_text(name, text).map_err(Refused::Invalid)?;
        let options = ImportOptions {
            revision: self.draft.clone(),
            lifecycle: Some(if upstream.defines("InitializeRequest") {
                Lifecycle::Handshake
            } else {
                Lifecycle::PerRequest
            }),
            status: Some(RevisionStage::Draft),
            ..ImportOptions::default()
        };
        let imported = directory.import(&upstream, &options)?;
        let spec = directory.spec()?;
        Ok(Made {
            generated: generate(&spec)?,
            left: imported.left.len(),
            spec,
        })
    }

    /// Compares what was made of the next schema with the one before. The error is what [`make`](Self::make) refused.
    pub fn follow(
        &mut self,
        name: &str,
        text: &str,
        made: Result<Made, Refused>,
    ) -> Result<Step, Refused> {
        // Replay keeps only a text that is a schema: it compares the next draft with the last one of these.
        let before = match &made {
            Err(Refused::Invalid(_)) => None,
            _ => self.before.replace((name.to_owned(), text.to_owned())),
        };
        let Made {
            spec,
            left,
            generated,
        } = made?;
        let open = generated.decisions.clone();
        let questions: SortedSet<Asked> = open.iter().map(question_of).collect();
        let new = questions
            .iter()
            .filter(|one| !self.open.contains(*one))
            .count();
        self.open = questions;
        Ok(Step {
            rows: before.and_then(|before| levels(&spec, &before, (name, text))),
            left,
            open,
            new,
            generated,
        })
    }
}

fn question_of(decision: &Decision) -> Asked {
    (decision.question, decision.place.clone())
}

/// Returns the rows of the diff between two schemas; `None` if one of them cannot be compared.
fn levels(
    spec: &Spec,
    old: &(String, String),
    new: (&str, &str),
) -> Option<SortedMap<ChangeLevel, usize>> {
    let sources = SideSources::read(spec).ok()?;
    let old = sources.of_text(&old.0, &old.1, false).ok()?;
    let new = sources.of_text(new.0, new.1, false).ok()?;
    let mut levels = SortedMap::new();
    for row in mcp_revisions_diff::compare(&old, &new).rows {
        *levels.entry(row.level).or_default() += 1;
    }
    Some(levels)
}
