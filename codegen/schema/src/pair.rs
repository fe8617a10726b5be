//! Two revisions that values travel between, or a revision and an extension, and the two ways.

use std::fmt;

use mcp_wire::Direction;
use serde::{Deserialize, Serialize};

use crate::names;
use crate::spec::ExtensionSpec;
use crate::spec::extensions::FOLDER;

/// Two adjacent revisions, or the core that had a feature and the extension that has it now, or that and the later core that
/// took it back; `OLD..NEW` in print.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RevisionPair {
    /// The id of the older revision, or the name of an extension.
    pub old: String,
    /// The id of the newer one, or the name of an extension.
    pub new: String,
    /// Its rule file below the spec directory.
    file: String,
}

impl RevisionPair {
    /// Creates the pair of these two revisions, the older one first.
    pub fn new(old: impl Into<String>, new: impl Into<String>) -> Self {
        let (old, new) = (old.into(), new.into());
        let file = format!("shims/{old}..{new}.toml");
        Self { old, new, file }
    }

    /// Creates the pair of a state of an extension, and the state or the core before it: its rules lie in the folder of the
    /// extension.
    pub fn of_extension(
        older: &str,
        before: Option<&ExtensionSpec>,
        state: &ExtensionSpec,
    ) -> Self {
        let old = before.map_or("core", |before| &before.state);
        Self {
            old: older.to_owned(),
            new: state.name.clone(),
            file: format!("{FOLDER}/{}/{old}..{}.toml", state.folder, state.state),
        }
    }

    /// Creates the pair of a state of an extension and the later core that took the feature back.
    fn of_later_core(state: &ExtensionSpec, revision: &str) -> Self {
        Self {
            old: state.name.clone(),
            new: revision.to_owned(),
            file: format!("{FOLDER}/{}/{}..core.toml", state.folder, state.state),
        }
    }

    /// Returns the pairs of the states of extensions, oldest first: the core that had the feature and the first state, each
    /// state and the next, and the state of handlers and the core that took the feature back.
    pub fn of_extensions(extensions: &[&ExtensionSpec]) -> Vec<Self> {
        let mut pairs = Vec::new();
        for states in extensions.chunk_by(|a, b| a.folder == b.folder) {
            let first = states.first();
            let core = first.and_then(|first| Some((first.core.as_ref()?, first)));
            pairs.extend(core.map(|(core, first)| Self::of_extension(&core.revision, None, first)));
            let next = states.windows(2).filter_map(|pair| match pair {
                [old, new] => Some(Self::of_extension(&old.name, Some(old), new)),
                _ => None,
            });
            pairs.extend(next);
            let later = states
                .iter()
                .filter_map(|of| Some((of, of.later_core.as_ref()?)));
            pairs.extend(later.map(|(of, core)| Self::of_later_core(of, &core.revision)));
        }
        pairs
    }

    /// Returns whether a file below the spec directory has the rules of a pair.
    pub fn is_rule_file(name: &str) -> bool {
        let own = name
            .strip_prefix(FOLDER)
            .and_then(|rest| rest.rsplit('/').next());
        name.starts_with("shims/") || own.is_some_and(|own| own.contains(".."))
    }

    /// Returns the name of its rule file among those of the spec.
    pub fn file(&self) -> String {
        self.file.clone()
    }

    /// Returns the module of its conversions: `v2024_11_05_to_v2025_03_26`.
    pub fn module(&self) -> String {
        let [old, new] = [&self.old, &self.new].map(|id| names::module(id));
        format!("{old}_to_{new}")
    }

    /// Returns the revisions that a way leads from and to.
    pub fn ends(&self, way: StepDirection) -> [&str; 2] {
        way.ends([&self.old, &self.new])
    }

    /// Returns the name of a way in losses: `FROM..TO`.
    pub fn step(&self, way: StepDirection) -> String {
        let [from, to] = self.ends(way);
        format!("{from}..{to}")
    }
}

impl fmt::Display for RevisionPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.old, self.new)
    }
}

/// The direction in which a value travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepDirection {
    /// To the newer revision.
    Up,
    /// To the older one.
    Down,
}

mcp_wire::strings! {
    StepDirection {
        Up "up";
        Down "down";
    }
}

impl StepDirection {
    /// Both ways.
    pub const BOTH: [Self; 2] = Self::ALL;

    /// Returns the way back.
    pub const fn back(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Down => Self::Up,
        }
    }

    /// Returns those of source and target, of two values of the older and the newer revision.
    pub fn ends<T>(self, [old, new]: [T; 2]) -> [T; 2] {
        match self {
            Self::Up => [old, new],
            Self::Down => [new, old],
        }
    }

    /// Returns that of two values which belongs to this way.
    pub fn of<T>(self, up: T, down: T) -> T {
        match self {
            Self::Up => up,
            Self::Down => down,
        }
    }
}

/// The sender of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MethodSender {
    /// The client.
    Client,
    /// The server.
    Server,
}

impl MethodSender {
    /// Returns the direction of its messages.
    pub const fn direction(self) -> Direction {
        match self {
            Self::Client => Direction::ClientToServer,
            Self::Server => Direction::ServerToClient,
        }
    }
}

impl From<Direction> for MethodSender {
    fn from(direction: Direction) -> Self {
        match direction {
            Direction::ClientToServer => Self::Client,
            Direction::ServerToClient => Self::Server,
        }
    }
}
