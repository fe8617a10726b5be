//! Where a conversion is in the value that it converts.

use std::borrow::Cow;
use std::sync::Arc;

/// The path from the root of a value to the one at hand.
#[derive(Debug, Clone, Default)]
pub(crate) struct Path {
    segments: Vec<LossSegment>,
    /// The number of segments above the root.
    above: usize,
    /// The same, as the losses of the value at hand have it.
    shared: Option<Arc<[LossSegment]>>,
}

impl Path {
    /// Goes back to the root.
    pub(crate) fn reset(&mut self) {
        self.segments.truncate(self.above);
        self.shared = None;
    }

    /// Goes into a member, which is the root from there on.
    pub(crate) fn begin_at(&mut self, member: &'static str) {
        self.enter(LossSegment::Member(member));
        self.above = self.segments.len();
    }

    /// Goes into a part of the value at hand.
    #[inline(never)]
    pub(crate) fn enter(&mut self, segment: LossSegment) {
        self.segments.push(segment);
        self.shared = None;
    }

    /// Goes back to the value that the part at hand belongs to.
    #[inline(never)]
    pub(crate) fn leave(&mut self) {
        self.segments.pop();
        self.shared = None;
    }

    /// Goes on to the next item of the list that the item at hand belongs to.
    pub(crate) fn go_on(&mut self) {
        if let Some(LossSegment::Index(index)) = self.segments.last_mut() {
            *index += 1;
        }
        self.shared = None;
    }

    /// Returns the path for a loss.
    pub(crate) fn shared(&mut self) -> Arc<[LossSegment]> {
        let shared = (self.shared).get_or_insert_with(|| Arc::from(&*self.segments));
        Arc::clone(shared)
    }

    /// Returns the path as a pointer.
    pub(crate) fn pointer(&self) -> String {
        spelled(&self.segments)
    }
}

/// A segment of the path to a value.
#[derive(Debug, Clone)]
pub(crate) enum LossSegment {
    /// A member that a revision names.
    Member(&'static str),
    /// An item of a list.
    Index(usize),
    /// A name in a map.
    Key(Arc<str>),
    /// What a hook says of the place below: a pointer, escaped.
    Below(Cow<'static, str>),
}

/// Returns the pointer of a path.
pub(crate) fn spelled<'p>(path: impl IntoIterator<Item = &'p LossSegment>) -> String {
    let mut pointer = String::new();
    for segment in path {
        match segment {
            LossSegment::Member(name) => push(&mut pointer, name),
            LossSegment::Key(name) => push(&mut pointer, name),
            LossSegment::Index(index) => {
                pointer.push('/');
                pointer.push_str(&index.to_string());
            }
            LossSegment::Below(below) => pointer.push_str(below),
        }
    }
    pointer
}

/// Returns `/name`, escaped.
#[must_use]
pub fn pointer_to(name: &str) -> String {
    let mut pointer = String::with_capacity(name.len() + 1);
    push(&mut pointer, name);
    pointer
}

fn push(pointer: &mut String, name: &str) {
    pointer.push('/');
    pointer.push_str(&mcp_wire::pointer::escaped(name));
}
