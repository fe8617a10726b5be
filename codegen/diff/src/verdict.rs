//! The effect of a change on a message that crosses it: two directions, two questions each, and the level that follows.

use serde::{Deserialize, Serialize};

use mcp_revisions_schema::from_name;
use mcp_revisions_schema::spec::changes::RefusingTransport;

/// The fate of a message that a peer of one revision sends to a peer of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct DirectionVerdict {
    /// Set if everything that is valid for the sender is valid for the receiver.
    pub valid: bool,
    /// The receiver's understanding of the message.
    pub meaning: Meaning,
    /// The transport that shows the refusal, where no JSON text does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over: Option<RefusingTransport>,
}

/// The receiver's understanding of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Meaning {
    /// The receiver understands it as the sender means it.
    Kept,
    /// The receiver does not know the part and passes over it.
    Dropped,
    /// The receiver takes it for something else, or refuses it.
    Changed,
}

/// The four verdicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Verdicts {
    /// A sender of the old revision and a receiver of the new one.
    pub old_to_new: DirectionVerdict,
    /// A sender of the new revision and a receiver of the old one.
    pub new_to_old: DirectionVerdict,
}

/// The gravity of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeLevel {
    /// Names and spelling: nothing on the wire.
    Representation,
    /// Old peers miss what is new, and nothing else.
    Compatible,
    /// Valid, and yet something that worked is understood no more, or differently.
    Risky,
    /// There is a text, or an HTTP request, that one side sends and the other refuses.
    Breaking,
}

impl DirectionVerdict {
    /// All is well.
    pub const FINE: Self = Self::of(true, Meaning::Kept);
    /// The receiver passes over it.
    pub const DROPPED: Self = Self::of(true, Meaning::Dropped);
    /// The receiver takes it for something else.
    pub const CHANGED: Self = Self::of(true, Meaning::Changed);
    /// The receiver refuses it.
    pub const REFUSED: Self = Self::of(false, Meaning::Changed);
    /// The receiver refuses the HTTP request around it.
    pub const REFUSED_OVER_HTTP: Self = Self {
        over: Some(RefusingTransport::Http),
        ..Self::REFUSED
    };

    const fn of(valid: bool, meaning: Meaning) -> Self {
        Self {
            valid,
            meaning,
            over: None,
        }
    }
}

impl Verdicts {
    /// Joins the verdicts of both directions.
    pub const fn of(old_to_new: DirectionVerdict, new_to_old: DirectionVerdict) -> Self {
        Self {
            old_to_new,
            new_to_old,
        }
    }
}

// The worst first.
mcp_wire::strings! {
    ChangeLevel {
        Breaking "breaking";
        Risky "risky";
        Compatible "compatible";
        Representation "representation";
    }
}

from_name!(ChangeLevel, "level", as_str);

/// One of the two revisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ComparedEnd {
    /// The old one.
    Old,
    /// The new one.
    New,
}

impl ComparedEnd {
    /// Returns the value of this side.
    pub(crate) fn of<T>(self, old: T, new: T) -> T {
        match self {
            Self::Old => old,
            Self::New => new,
        }
    }

    /// Returns the value of this side, of a pair.
    pub(crate) fn at<T>(self, [old, new]: [T; 2]) -> T {
        self.of(old, new)
    }

    pub(crate) fn other(self) -> Self {
        self.of(Self::New, Self::Old)
    }
}

/// The consequence of a change for the version number of the generated crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CrateChange {
    /// Nothing that a compiler sees.
    Patch,
    /// Something new; constructors and setters stay as they are.
    Minor,
    /// Something that compiled no longer does.
    Major,
}

mcp_wire::strings! {
    CrateChange {
        Patch "patch";
        Minor "minor";
        Major "major";
    }
}
