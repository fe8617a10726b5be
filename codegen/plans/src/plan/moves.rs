//! Members that stand elsewhere on the other side: as items of a list of typed alternatives, or as an entry of a map.

use super::Transfer;
use mcp_revisions_schema::model::Rest;

/// The members of an object that stand elsewhere on the other side.
#[derive(Debug, Clone, PartialEq)]
pub struct MemberMoves {
    /// The lists of the target, which hold members of the source.
    pub gathered: Vec<AlternativesPlan>,
    /// The lists of the source, whose items become members of the target.
    pub spread: Vec<AlternativesPlan>,
    /// The members that are entries of a map.
    pub entries: Vec<EntryPlan>,
}

impl MemberMoves {
    /// Returns whether the conversion looks at unknown members of the source for them: what has a name there is none.
    pub fn reads_unknown(&self) -> bool {
        let has_lists = !self.gathered.is_empty() || !self.spread.is_empty();
        has_lists || self.entries.iter().any(|entry| entry.takes)
    }
}

/// A member of one side that is an entry of a map on the other.
#[derive(Debug, Clone, PartialEq)]
pub struct EntryPlan {
    /// The rule.
    pub rule: String,
    /// Set if the target has the member, and takes it out of the map of the source.
    pub takes: bool,
    /// The name of the map on the wire.
    pub map: String,
    /// Its Rust field in the source.
    pub map_field: String,
    /// The name of the entry.
    pub name: String,
    /// The name of the member on the wire.
    pub wire: String,
    /// Its Rust field.
    pub field: String,
    /// Set if that is in a box.
    pub boxed: bool,
}

/// A list of typed alternatives of one side, and the members of the other side whose values its items hold.
#[derive(Debug, Clone, PartialEq)]
pub struct AlternativesPlan {
    /// The rule.
    pub rule: String,
    /// The name of the list on the wire.
    pub wire: String,
    /// Its Rust field.
    pub field: String,
    /// Set if the list may be absent.
    pub optional: bool,
    /// The Rust name of the union that its items are of.
    pub union: String,
    /// Set if the union has variants that are none of the items.
    pub has_others: bool,
    /// The items, in order.
    pub items: Vec<AlternativePlan>,
}

impl AlternativesPlan {
    /// Returns the values that its items hold.
    pub fn held_values(&self) -> impl Iterator<Item = &HeldValue> {
        self.items.iter().filter_map(|item| item.held.as_ref())
    }

    /// Returns the values in the list that `has` these items, each with the index of its item: they are in the order of the
    /// rule.
    pub fn places(
        &self,
        has: impl Fn(&AlternativePlan, &HeldValue) -> bool,
    ) -> impl Iterator<Item = (usize, &HeldValue)> {
        let is_there =
            move |item: &&AlternativePlan| item.held.as_ref().is_none_or(|held| has(item, held));
        let there = self.items.iter().filter(is_there).enumerate();
        there.filter_map(|(index, item)| Some((index, item.held.as_ref()?)))
    }
}

/// An item of a list of typed alternatives.
#[derive(Debug, Clone, PartialEq)]
pub struct AlternativePlan {
    /// The variant of the union.
    pub variant: String,
    /// Set if the variant keeps its value in a box.
    pub boxed: bool,
    /// The Rust name of the type that the variant holds.
    pub ty: String,
    /// The Rust fields of the type that the rule does not name: each may be absent.
    pub others: Vec<String>,
    /// The form in which the type keeps unknown members.
    pub rest: Rest,
    /// The value that it holds; `None` for an item that stands in every list.
    pub held: Option<HeldValue>,
}

/// A value that an item of a list holds, and a member of the other side.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldValue {
    /// The name of the item's member on the wire.
    pub wire: String,
    /// Its Rust field.
    pub field: String,
    /// Set if the item keeps it in a box.
    pub boxed: bool,
    /// The name of the other side's member on the wire.
    pub member: String,
    /// Its Rust field.
    pub member_field: String,
    /// Set if the other side may lack it.
    pub optional: bool,
    /// Set if the other side keeps it in a box.
    pub member_boxed: bool,
    /// The conversion of the value.
    pub transfer: Transfer,
    /// The value of a member that must be there and that no item holds.
    pub absent: Option<serde_json::Value>,
}
