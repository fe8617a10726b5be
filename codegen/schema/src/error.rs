//! Errors, each with what the reader needs to mend it: where, what, what was expected, what to do.

use crate::sorted::SortedSet;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::decision::Decision;

/// A failure of reading, importing or checking.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file system refused.
    #[error("cannot {action} {}: {cause}", .path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The failed action, as a verb: `read`, `write`.
        action: &'static str,
        /// The error of the system; part of the message, and so no `source` of it.
        cause: std::io::Error,
    },
    /// Something is wrong with what a file says, with the request, or with the generator.
    #[error("{0}")]
    Wrong(Box<SpecDiagnostic>),
    /// An open question of the input, where no safe answer may be taken.
    #[error("{}", .0.diagnostic(""))]
    Open(Box<Decision>),
    /// Several failures: no two of the same text, ordered by file and line.
    #[error("{}{} problems", .0.iter().map(|one| format!("{one}\n")).collect::<String>(), .0.len())]
    Many(Vec<Error>),
}

/// Something that is wrong: where it stands, what it is, and how to mend it.
///
/// Text members are `Box<str>`; `.into()` makes one from `&str` and `String`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecDiagnostic {
    /// The part at fault.
    pub fault: FaultKind,
    /// The file, as it is printed; empty for what stands in none.
    pub file: Box<str>,
    /// The place in the file.
    pub place: FileLocation,
    /// The kind and the id of the rule; empty for an error without one.
    pub rule: Box<str>,
    /// The revision of which the rule does not hold, where it may hold of others that it names.
    pub revision: Option<Box<str>>,
    /// The problem, with the expected and the found value.
    pub problem: Box<str>,
    /// The lines below, each with its label, which may be empty: the reason of a rule, differing lines, the help.
    pub notes: Vec<(&'static str, Box<str>)>,
}

/// The part at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A text that is not JSON or TOML, or not the TOML that its file holds.
    Text,
    /// The content of a file.
    Input,
    /// A request that cannot be carried out as it was put.
    Request,
    /// The generator.
    Generator,
}

/// A place in a file. Lines and columns count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileLocation {
    /// The whole file.
    Whole,
    /// A line.
    Line(usize),
    /// A line and a column.
    Column(usize, usize),
    /// A JSON pointer; empty for the whole document.
    Pointer(Box<str>),
}

/// The label of what says how to mend it.
const HELP: &str = "help";

impl SpecDiagnostic {
    /// Returns a problem of a file.
    pub(crate) fn of(
        file: impl Into<Box<str>>,
        place: FileLocation,
        problem: impl Into<Box<str>>,
    ) -> Self {
        Self {
            fault: FaultKind::Input,
            file: file.into(),
            place,
            rule: "".into(),
            revision: None,
            problem: problem.into(),
            notes: Vec::new(),
        }
    }

    /// Adds a note; an empty one is not printed.
    pub(crate) fn note(mut self, label: &'static str, text: impl Into<Box<str>>) -> Self {
        let note = text.into();
        if !note.is_empty() {
            self.notes.push((label, note));
        }
        self
    }

    /// Adds what to do.
    pub(crate) fn help(self, text: impl Into<Box<str>>) -> Self {
        self.note(HELP, text)
    }

    /// Returns the line, where it has one.
    pub fn line(&self) -> Option<usize> {
        match self.place {
            FileLocation::Line(line) | FileLocation::Column(line, _) => Some(line),
            FileLocation::Whole | FileLocation::Pointer(_) => None,
        }
    }

    /// Returns the help; empty if there is none.
    pub fn cure(&self) -> &str {
        let mut notes = self.notes.iter();
        let help = notes.find_map(|(label, text)| (*label == HELP).then_some(&**text));
        help.unwrap_or_default()
    }
}

impl IntoIterator for Error {
    type Item = Self;
    type IntoIter = std::vec::IntoIter<Self>;

    fn into_iter(self) -> Self::IntoIter {
        match self {
            Self::Many(errors) => errors.into_iter(),
            one => vec![one].into_iter(),
        }
    }
}

impl From<SpecDiagnostic> for Error {
    fn from(diagnostic: SpecDiagnostic) -> Self {
        Self::Wrong(Box::new(diagnostic))
    }
}

/// The place and the problem, then a line for each note.
impl fmt::Display for SpecDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        match &self.place {
            FileLocation::Whole => {}
            FileLocation::Line(line) => write!(f, ":{line}")?,
            FileLocation::Column(line, column) => write!(f, ":{line}:{column}")?,
            FileLocation::Pointer(pointer) => write!(f, "#{pointer}")?,
        }
        if !self.file.is_empty() {
            f.write_str(": ")?;
        }
        if !self.rule.is_empty() {
            write!(f, "{}: ", self.rule)?;
        }
        f.write_str(&self.problem)?;
        for (label, text) in &self.notes {
            f.write_str("\n  ")?;
            if !label.is_empty() {
                write!(f, "{label}: ")?;
            }
            f.write_str(&text.trim_end().replace('\n', "\n  "))?;
        }
        Ok(())
    }
}

impl Error {
    /// Returns an [`Error::Io`].
    pub fn io(action: &'static str, path: impl AsRef<Path>, cause: std::io::Error) -> Self {
        use std::io::{Error as Cause, ErrorKind};
        let cause = match cause.kind() {
            ErrorKind::NotFound if action == "read" => {
                Cause::new(ErrorKind::NotFound, "there is no such file: check the path")
            }
            ErrorKind::InvalidData if action == "read" => Cause::new(
                ErrorKind::InvalidData,
                format!("{cause}: save the file as UTF-8"),
            ),
            _ => cause,
        };
        Self::Io {
            path: path.as_ref().to_owned(),
            action,
            cause,
        }
    }

    /// Returns a text that is not what its file holds.
    pub(crate) fn text(file: &str, place: FileLocation, problem: impl Into<Box<str>>) -> Self {
        let mut diagnostic = SpecDiagnostic::of(file, place, problem);
        diagnostic.fault = FaultKind::Text;
        diagnostic.into()
    }

    /// Returns the error of a file that is not what it has to be; `detail` is evidence, and may be empty.
    pub fn file(
        file: impl Into<Box<str>>,
        problem: impl Into<Box<str>>,
        detail: impl Into<Box<str>>,
        help: impl Into<Box<str>>,
    ) -> Self {
        let diagnostic = SpecDiagnostic::of(file, FileLocation::Whole, problem);
        diagnostic.note("", detail).help(help).into()
    }

    /// Returns a place in a schema that is not as it has to be.
    pub fn schema(
        file: &str,
        pointer: &str,
        expected: impl fmt::Display,
        found: impl fmt::Display,
        help: impl Into<Box<str>>,
    ) -> Self {
        let problem = format!("expected {expected}, found {found}");
        let diagnostic = SpecDiagnostic::of(file, FileLocation::Pointer(pointer.into()), problem);
        diagnostic.help(help).into()
    }

    /// Returns the error of a request that cannot be carried out as it was put, and what to do.
    pub fn usage(problem: impl Into<Box<str>>, help: impl Into<Box<str>>) -> Self {
        Self::request(problem, HELP, help)
    }

    /// Returns a request by a name that none of a few things has.
    pub fn no_such<'k>(kind: &str, name: &str, known: impl Iterator<Item = &'k str>) -> Self {
        let names: Vec<&str> = known.collect();
        let help = format!("one of {}", names.join(", "));
        Self::usage(format!("no {kind} `{name}`"), help)
    }

    /// Returns the error of a request for a revision that does not exist.
    pub fn unknown_revision<'k>(id: &str, known: impl Iterator<Item = &'k str>) -> Self {
        let names: Vec<&str> = known.collect();
        let known = if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        };
        Self::request(format!("no revision `{id}`"), "known", known)
    }

    fn request(
        problem: impl Into<Box<str>>,
        label: &'static str,
        note: impl Into<Box<str>>,
    ) -> Self {
        let mut diagnostic = SpecDiagnostic::of("", FileLocation::Whole, problem);
        diagnostic.fault = FaultKind::Request;
        diagnostic.note(label, note).into()
    }

    /// Returns the error of a step of emission that failed: a defect of the generator, not of the input.
    pub fn defect(step: &str, problem: impl fmt::Display) -> Self {
        let problem = format!("{step} failed: {problem}");
        let mut diagnostic = SpecDiagnostic::of("", FileLocation::Whole, problem);
        diagnostic.fault = FaultKind::Generator;
        let help = "this is a defect of the generator; report it with the schema";
        diagnostic.help(help).into()
    }

    /// Returns [`Error::Many`] of the failures without duplicates, or the only one. Returns `None` if there is none.
    pub fn of(errors: Vec<Self>) -> Option<Self> {
        let mut flat: Vec<Self> = errors.into_iter().flatten().collect();
        let mut said = SortedSet::new();
        flat.retain(|error| said.insert(error.to_string()));
        // Those of one line stay in the order in which they were found.
        flat.sort_by_cached_key(Self::place);
        match flat.len() {
            0 | 1 => flat.pop(),
            _ => Some(Self::Many(flat)),
        }
    }

    /// Returns `Ok` for no failure. Returns [`Error::of`] of `errors`, if there are any.
    pub fn check(errors: Vec<Self>) -> Result<(), Self> {
        Self::of(errors).map_or(Ok(()), Err)
    }

    /// Returns the values of the results, and adds their errors to `errors`.
    pub fn apart<T>(
        results: impl IntoIterator<Item = Result<T, Self>>,
        errors: &mut Vec<Self>,
    ) -> Vec<T> {
        let well = |one: Result<T, Self>| one.map_err(|error| errors.push(error)).ok();
        results.into_iter().filter_map(well).collect()
    }

    /// Returns the values of all steps, or the failures of all of them.
    pub(crate) fn all<T>(steps: impl IntoIterator<Item = Result<T, Self>>) -> Result<Vec<T>, Self> {
        let mut errors = Vec::new();
        let made = Self::apart(steps, &mut errors);
        Self::check(errors)?;
        Ok(made)
    }

    /// Returns each of several failures, or the only one.
    pub fn each(&self) -> &[Self] {
        match self {
            Self::Many(errors) => errors,
            one => std::slice::from_ref(one),
        }
    }

    /// Returns the diagnostic that it is.
    pub fn diagnostic(&self) -> Option<&SpecDiagnostic> {
        match self {
            Self::Wrong(diagnostic) => Some(diagnostic),
            _ => None,
        }
    }

    /// Returns the file that it is about, and the line; those without come first.
    pub fn place(&self) -> (String, usize) {
        match self {
            Self::Wrong(of) => (of.file.to_string(), of.line().unwrap_or(0)),
            Self::Open(decision) => (decision.scope.to_string(), 0),
            Self::Io { .. } | Self::Many(_) => (String::new(), 0),
        }
    }

    /// Returns whether the request cannot be carried out as it was put.
    pub fn is_of_the_request(&self) -> bool {
        (self.diagnostic()).is_some_and(|of| of.fault == FaultKind::Request)
    }

    /// Returns whether the input could not be read at all, as against read and found wrong.
    pub fn is_unreadable(&self) -> bool {
        match self {
            Self::Io { .. } => true,
            Self::Wrong(of) => of.fault == FaultKind::Text,
            Self::Many(errors) => errors.iter().any(Self::is_unreadable),
            Self::Open(_) => false,
        }
    }
}

/// Reads the names of an enum on the command line.
#[macro_export]
macro_rules! from_name {
    ($type:ident, $kind:literal, $name:ident) => {
        impl std::str::FromStr for $type {
            type Err = $crate::Error;

            fn from_str(name: &str) -> Result<Self, $crate::Error> {
                let found = Self::ALL.iter().find(|one| one.$name() == name);
                let known = Self::ALL.iter().map(|one| one.$name());
                (found.copied()).ok_or_else(|| $crate::Error::no_such($kind, name, known))
            }
        }
    };
}
