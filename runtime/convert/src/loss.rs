//! A loss, whose value is kept as it was until it is read.

use std::fmt;
use std::sync::Arc;

use mcp_wire::{Encode, Json, excerpt, printable};

use crate::path::{LossSegment, spelled};
use crate::rule::Rule;
use crate::severity::Severity;

/// A part of a value that could not be carried over as it was.
///
/// Place and value are spelled out when they are asked for: most losses are counted, and no more.
#[derive(Clone)]
pub struct Loss {
    /// The step, as `2025-11-25..2025-06-18`.
    pub step: &'static str,
    /// What happened at that place.
    pub change: Change,
    pub(crate) rule: &'static Rule,
    pub(crate) lesser: bool,
    /// The value at hand, which losses of the same value share.
    pub(crate) at: Arc<[LossSegment]>,
    pub(crate) below: LossSegment,
    pub(crate) value: Option<Arc<dyn Spell>>,
    /// The list entry that it is or belongs to, where that was invalid.
    pub(crate) part: Option<Arc<str>>,
}

impl Loss {
    /// Returns the JSON pointer of the part, in the value before the step that lost it.
    #[must_use]
    pub fn pointer(&self) -> String {
        spelled(self.path())
    }

    fn path(&self) -> impl Iterator<Item = &LossSegment> {
        self.at.iter().chain([&self.below])
    }

    /// Returns whether it is the member at these names, from the outermost on; cheaper than its pointer.
    #[must_use]
    pub fn is_at(&self, names: &[&str]) -> bool {
        let is_it = |(segment, name): (&LossSegment, &&str)| match segment {
            LossSegment::Member(member) => member == name,
            LossSegment::Key(key) => **key == **name,
            LossSegment::Index(_) | LossSegment::Below(_) => false,
        };
        self.at.len() + 1 == names.len() && self.path().zip(names).all(is_it)
    }

    /// Returns the rule in `spec/shims/` that says so.
    #[must_use]
    pub fn rule(&self) -> &'static str {
        self.rule.id
    }

    /// Returns the reason of the rule.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        self.rule.reason
    }

    /// Returns its severity.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.rule.severity_of(self.lesser, || self.value())
    }

    /// Returns the list entry that an invalid part is or belongs to, such as ``tool `add` ``; `None` for other losses, and if it
    /// has no name.
    #[must_use]
    pub fn part(&self) -> Option<&str> {
        self.part.as_deref()
    }

    /// Returns whether the way back does not undo it, and it says more than its absence.
    #[must_use]
    pub fn is_loss(&self) -> bool {
        let is_removed = self.change == Change::Removed;
        self.change.is_loss() && !(is_removed && self.rule.is_default(|| self.value()))
    }

    /// Returns the value before; `None` if there was none, or if it was carried on.
    #[must_use]
    pub fn value(&self) -> Option<Json> {
        self.value.as_ref().map(|value| value.spell())
    }
}

impl PartialEq for Loss {
    fn eq(&self, other: &Self) -> bool {
        self.step == other.step
            && self.change == other.change
            && self.rule.id == other.rule.id
            && self.severity() == other.severity()
            && self.pointer() == other.pointer()
            && self.value() == other.value()
    }
}

impl fmt::Debug for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loss")
            .field("pointer", &self.pointer())
            .field("step", &self.step)
            .field("rule", &self.rule.id)
            .field("severity", &self.severity())
            .field("change", &self.change)
            .field("value", &self.value())
            .finish()
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pointer = printable(&self.pointer());
        let place = match pointer.as_str() {
            "" => "the root",
            pointer => pointer,
        };
        let place = match self.part() {
            Some(part) => format!("{place} of {part}"),
            None => place.to_owned(),
        };
        let Self {
            step, rule, change, ..
        } = self;
        if self.is_loss() {
            write!(
                f,
                "{} loss at {place} ({step}, {}): {change}",
                self.severity(),
                rule.id
            )?
        } else {
            write!(f, "{change} at {place} ({step}, {})", rule.id)?
        }
        match self.value() {
            Some(value) => write!(f, " {}", excerpt(value.text(), 60)),
            None => Ok(()),
        }
    }
}

/// What a conversion did at the place of a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Change {
    /// Nothing stands there now: a member was left out, or an item of a list, so that those after it moved up.
    Removed,
    /// Something else stands there now.
    Replaced,
    /// Nothing stood there, and something does now.
    Added,
    /// It travels as a member that the other revision does not name, and is taken back on the way back.
    Carried,
    /// It stands there in another shape, which the way back undoes by a mark in `_meta`.
    Reshaped,
    /// It left the message: the other revision says it once for a session, in its handshake.
    InSession,
}

mcp_wire::strings! {
    Change {
        Removed "removed";
        Replaced "replaced";
        Added "added";
        Carried "carried";
        Reshaped "reshaped";
        InSession "in-session";
    }
}

impl Change {
    /// Returns whether the way back does not undo it.
    #[must_use]
    pub const fn is_loss(self) -> bool {
        match self {
            Self::Removed | Self::Replaced | Self::Added => true,
            Self::Carried | Self::Reshaped | Self::InSession => false,
        }
    }
}

/// A value that can be spelled out later.
pub(crate) trait Spell: Send + Sync {
    /// As JSON.
    fn spell(&self) -> Json;
}

impl<T: Encode + Send + Sync> Spell for T {
    fn spell(&self) -> Json {
        Json::of(self)
    }
}

/// Members of an object that were lost one by one, and are one loss of the object.
pub(crate) struct LossMembers(pub(crate) Vec<(String, Arc<dyn Spell>)>);

impl Encode for LossMembers {
    fn encode(&self, writer: &mut mcp_wire::Writer) {
        let members = self.0.iter();
        let members: mcp_wire::Extra = members
            .map(|(name, value)| (name.clone(), value.spell()))
            .collect();
        members.encode(writer);
    }
}
