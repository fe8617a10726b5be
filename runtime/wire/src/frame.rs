//! The part of a schema that is about a value which its type keeps as text: checked where a message is converted, and nowhere else.

use crate::fault::Fault;
use crate::object::{Members, Record, UnknownMembers};
use crate::reader::Reader;

/// The part of a schema that is about a value which is kept as text.
///
/// A type that keeps a value as text takes each object there. A receiver that holds the value against its schema does not:
/// so a conversion checks it by this, and mends it as it does other values.
#[derive(Debug)]
#[doc(hidden)]
pub enum Frame {
    /// Any value.
    Any,
    /// This string.
    Constant(&'static str),
    /// A string.
    String,
    /// `true` or `false`.
    Boolean,
    /// An object.
    Object,
    /// A list whose entries are all of one kind.
    List(&'static Frame),
    /// An object whose members are all of one kind.
    Each(&'static Frame),
    /// An object with these members, each with its own schema; and any others.
    Members(Members, &'static [Frame]),
}

impl Frame {
    /// Creates the frame of the object `name` with these members: those with the indices in `required` must be there.
    pub const fn members(
        name: &'static str,
        members: &'static [&'static str],
        required: &[usize],
        parts: &'static [Self],
    ) -> Self {
        Self::Members(Members::ignoring(name, members).requiring(required), parts)
    }

    fn check(&'static self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match self {
            Self::Any => reader.skip(),
            Self::Constant(text) => reader.constant(text),
            Self::String => reader.string().map(drop),
            Self::Boolean => reader.boolean().map(drop),
            Self::Object if reader.peek() == b'{' => reader.skip(),
            Self::Object => Err(reader.refuse("an object")),
            Self::List(entry) => {
                let mut array = reader.array()?;
                while array.next(reader)? {
                    let start = reader.offset();
                    if let Err(fault) = entry.check(reader) {
                        reader.mend_entry(start, false, fault)?;
                    }
                }
                Ok(())
            }
            Self::Each(each) => reader.members(&mut Framed(std::slice::from_ref(each))),
            Self::Members(members, parts) => reader.record(members, &mut Framed(parts)),
        }
    }
}

/// The members of an object, of which none is kept.
struct Framed(&'static [Frame]);

impl Record for Framed {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match self.0.get(index) {
            Some(part) => part.check(reader),
            None => reader.skip(),
        }
    }
}

impl UnknownMembers for Framed {
    fn read_member(&mut self, _key: String, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.member(0, reader)
    }

    fn repeated_key(&self) -> Option<&str> {
        None
    }
}

impl Reader<'_> {
    /// Checks the next value, which stays unread, if this reader checks values that are kept as text. Fails for a value of
    /// which the schema says something else; `null` is the matter of the member.
    #[doc(hidden)]
    pub fn framed(&mut self, frame: &'static Frame) -> Result<(), Fault> {
        let Some(met) = self.frames else {
            return Ok(());
        };
        met.set(true);
        if self.peek() == b'n' {
            return Ok(());
        }
        let (position, depth) = (self.position, self.depth);
        frame.check(self)?;
        (self.position, self.depth) = (position, depth);
        Ok(())
    }
}
