//! Two revisions that values travel between, or a revision and an extension, and the two ways.

use std::fmt;

use mcp_wire::Direction;
use serde::{Deserialize, Serialize};

use crate::names;

/// Two adjacent revisions, or the core that had a feature and the extension that has it now; `OLD..NEW` in print.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Pair {
    /// The id of the older revision.
    pub old: String,
    /// The id of the newer one, or the name of the extension.
    pub new: String,
}

impl Pair {
    /// Creates the pair of these two revisions, the older one first.
    pub fn new(old: impl Into<String>, new: impl Into<String>) -> Self {
        Self {
            old: old.into(),
            new: new.into(),
        }
    }

    /// Returns the name of its rule file among those of the spec.
    #[must_use]
    pub fn file(&self) -> String {
        format!("shims/{self}.toml")
    }

    /// Returns the module of its conversions: `v2024_11_05_to_v2025_03_26`.
    #[must_use]
    pub fn module(&self) -> String {
        let [old, new] = [&self.old, &self.new].map(|id| names::module(id));
        format!("{old}_to_{new}")
    }

    /// Returns the revisions that a way leads from and to.
    #[must_use]
    pub fn ends(&self, way: Way) -> [&str; 2] {
        way.ends([&self.old, &self.new])
    }

    /// Returns the name of a way in losses: `FROM..TO`.
    #[must_use]
    pub fn step(&self, way: Way) -> String {
        let [from, to] = self.ends(way);
        format!("{from}..{to}")
    }
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.old, self.new)
    }
}

/// Which way a value travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// To the newer revision.
    Up,
    /// To the older one.
    Down,
}

mcp_wire::strings! {
    Way {
        Up "up";
        Down "down";
    }
}

impl Way {
    /// Both ways.
    pub const BOTH: [Self; 2] = Self::ALL;

    /// Returns the way back.
    #[must_use]
    pub const fn back(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Down => Self::Up,
        }
    }

    /// Returns those of source and target, of two values of the older and the newer revision.
    #[must_use]
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

/// Who sends a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sender {
    /// The client.
    Client,
    /// The server.
    Server,
}

impl Sender {
    /// Returns the direction of its messages.
    #[must_use]
    pub const fn direction(self) -> Direction {
        match self {
            Self::Client => Direction::ClientToServer,
            Self::Server => Direction::ServerToClient,
        }
    }
}

impl From<Direction> for Sender {
    fn from(direction: Direction) -> Self {
        match direction {
            Direction::ClientToServer => Self::Client,
            Direction::ServerToClient => Self::Server,
        }
    }
}
