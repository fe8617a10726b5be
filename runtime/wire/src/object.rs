//! Objects with known members: which member comes next, which were seen, what is left over.

use crate::fault::{Fault, FaultCause};
use crate::json::{Extra, Json};
use crate::map::Map;
use crate::reader::{Decode, Reader};
use crate::scan;

/// The known members of a type, and what happens to the others.
#[derive(Debug)]
#[doc(hidden)]
pub struct Members {
    pub(crate) name: &'static str,
    names: &'static [&'static str],
    /// One bit for each member that must be there.
    required: u128,
    others: UnnamedMembers,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum UnnamedMembers {
    Keep,
    Refuse,
    Ignore,
}

impl Members {
    /// Returns the members of `type_name`; others are kept.
    pub const fn open(type_name: &'static str, names: &'static [&'static str]) -> Self {
        Self::new(type_name, names, UnnamedMembers::Keep)
    }

    /// Returns the members of `type_name`; others are checked to be JSON and dropped, even if they repeat.
    ///
    /// For a look at a message that does not read it, such as routing.
    pub const fn ignoring(type_name: &'static str, names: &'static [&'static str]) -> Self {
        Self::new(type_name, names, UnnamedMembers::Ignore)
    }

    /// Returns the members of a [`record!`](crate::record): `required` has a bit for each that must be there.
    #[doc(hidden)]
    pub const fn table(
        type_name: &'static str,
        names: &'static [&'static str],
        required: u128,
        closed: bool,
    ) -> Self {
        let others = if closed {
            UnnamedMembers::Refuse
        } else {
            UnnamedMembers::Keep
        };
        let mut members = Self::new(type_name, names, others);
        members.required = required;
        members
    }

    const fn new(
        name: &'static str,
        names: &'static [&'static str],
        others: UnnamedMembers,
    ) -> Self {
        assert!(
            names.len() <= 128,
            "an object has at most 128 known members"
        );
        Self {
            name,
            names,
            required: 0,
            others,
        }
    }

    pub(crate) fn member_name(&self, index: usize) -> &'static str {
        self.names.get(index).copied().unwrap_or_default()
    }

    /// Returns whether the member `index` must be there.
    pub(crate) fn requires(&self, index: usize) -> bool {
        self.required & bit(index) != 0
    }

    /// Requires the members with these indices.
    #[must_use]
    pub const fn requiring(mut self, indices: &[usize]) -> Self {
        let mut rest = indices;
        while let [index, others @ ..] = rest {
            self.required |= bit(*index);
            rest = others;
        }
        self
    }
}

/// An object whose known members are read one at a time, in the order of the text.
#[doc(hidden)]
pub trait Record {
    /// Reads the value of the known member `index` of its [`Members`], if there are any.
    ///
    /// # Errors
    /// A value that is not of the member's type.
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        let _ = index;
        reader.skip()
    }

    /// Returns the map for other members, if they are kept.
    fn extra(&mut self) -> Option<&mut Extra> {
        None
    }
}

/// A map of unknown members of one type.
#[doc(hidden)]
pub trait UnknownMembers {
    /// Reads the value of the member `key`, which may be a repeated one.
    ///
    /// # Errors
    /// A value that is not of the type.
    fn read_member(&mut self, key: String, reader: &mut Reader<'_>) -> Result<(), Fault>;

    /// Returns a repeated key, if there is one.
    fn repeated_key(&self) -> Option<&str>;
}

impl<T: Decode> UnknownMembers for Map<T> {
    fn read_member(&mut self, key: String, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.push(key, T::decode(reader)?);
        Ok(())
    }

    fn repeated_key(&self) -> Option<&str> {
        self.repeated_key()
    }
}

/// Stands for a member that the table does not know.
const OTHER: usize = usize::MAX;

/// An object that is being read.
#[derive(Debug)]
#[doc(hidden)]
pub struct Object {
    members: &'static Members,
    start: usize,
    /// One bit for each known member.
    seen: u128,
    /// The member to try first: members mostly come in the same order.
    likely: usize,
    first: bool,
    /// Where the key of the last unknown member stands.
    key: usize,
    extra: Extra,
}

impl Object {
    #[inline(always)]
    pub(crate) fn new(members: &'static Members, start: usize) -> Self {
        Self {
            members,
            start,
            seen: 0,
            likely: 0,
            first: true,
            key: 0,
            extra: Map::new(),
        }
    }

    /// Steps to the value of the next known member and gives its index; `None` at the end of the object.
    ///
    /// Unknown members on the way are kept, refused or dropped, as the table says.
    ///
    /// # Errors
    /// A member that was there before, known or not.
    pub fn next(&mut self, reader: &mut Reader<'_>) -> Result<Option<usize>, Fault> {
        self.next_inline(reader)
    }

    #[inline(always)]
    fn next_inline(&mut self, reader: &mut Reader<'_>) -> Result<Option<usize>, Fault> {
        loop {
            match self.step_inline(reader)? {
                Some(OTHER) => self.keep(reader)?,
                None if self.extra.len() > 1 => {
                    self.refuse_duplicates(reader, self.extra.repeated_key())?;
                    return Ok(None);
                }
                found => return Ok(found),
            }
        }
    }

    /// Does the same as [`next`](Self::next), with unknown members read into `others`.
    pub fn next_with(
        &mut self,
        reader: &mut Reader<'_>,
        others: &mut dyn UnknownMembers,
    ) -> Result<Option<usize>, Fault> {
        loop {
            match self.step(reader)? {
                Some(OTHER) => {
                    let key = self.other_key(reader)?;
                    if let Err(fault) = others.read_member(key, reader) {
                        reader.mend_entry(self.key, true, fault)?;
                    }
                }
                None => {
                    self.refuse_duplicates(reader, others.repeated_key())?;
                    return Ok(None);
                }
                found => return Ok(found),
            }
        }
    }

    /// Refuses an object that had no member `index`.
    #[inline]
    pub fn require_seen(&self, index: usize) -> Result<(), Fault> {
        if self.has_seen(index) {
            Ok(())
        } else {
            Err(self.missing(index))
        }
    }

    /// Refuses an object without one of the members that must be there.
    #[inline]
    fn require_all(&self) -> Result<(), Fault> {
        let missing = self.missing_bits();
        if missing == 0 {
            Ok(())
        } else {
            Err(self.missing(missing.trailing_zeros() as usize))
        }
    }

    /// One bit for each member that must be there and was not.
    #[inline(always)]
    fn missing_bits(&self) -> u128 {
        self.members.required & !self.seen
    }

    /// Returns whether the member `index` was there.
    #[inline]
    pub fn has_seen(&self, index: usize) -> bool {
        self.seen & bit(index) != 0
    }

    /// Returns the fault of an object without the member `index`.
    #[cold]
    pub fn missing(&self, index: usize) -> Fault {
        let member = self.members.member_name(index);
        Fault::new(
            self.start,
            FaultCause::Missing {
                of: self.members.name,
                member,
            },
        )
    }

    /// Returns the offset of the object in the text.
    pub fn offset(&self) -> usize {
        self.start
    }

    /// Returns the unknown members, in the order of the text.
    #[inline]
    pub fn into_extra(self) -> Extra {
        self.extra
    }

    /// Steps to the value of the next member: its index, [`OTHER`], or `None` at the end.
    fn step(&mut self, reader: &mut Reader<'_>) -> Result<Option<usize>, Fault> {
        self.step_inline(reader)
    }

    #[inline(always)]
    fn step_inline(&mut self, reader: &mut Reader<'_>) -> Result<Option<usize>, Fault> {
        if !reader.next_member(&mut self.first)? {
            return Ok(None);
        }
        let key = reader.position;
        let index = match self.members.names.get(self.likely) {
            Some(name) if reader.take_quoted(name) => self.likely,
            _ => self.find(reader)?,
        };
        if index == OTHER {
            self.key = key;
            if self.members.others == UnnamedMembers::Refuse {
                return Err(Fault::new(key, FaultCause::Unknown(self.members.name)));
            }
        } else {
            if self.has_seen(index) {
                reader.mend_duplicate(self.start, key)?;
            }
            self.seen |= bit(index);
            self.likely = index + 1;
        }
        reader.colon()?;
        Ok(Some(index))
    }

    /// Reads a key and looks for it in the table, from the likely member on.
    #[inline(always)]
    fn find(&self, reader: &mut Reader<'_>) -> Result<usize, Fault> {
        match reader.plain_string() {
            Some(key) => Ok(self.index_of(key.as_bytes())),
            None => reader
                .escaped_string()
                .map(|key| self.index_of(key.as_bytes())),
        }
    }

    #[inline(always)]
    fn index_of(&self, key: &[u8]) -> usize {
        let names = self.members.names;
        let (before, after) = names.split_at_checked(self.likely).unwrap_or((names, &[]));
        let find = |names: &[&str]| {
            names
                .iter()
                .position(|name| scan::same(name.as_bytes(), key))
        };
        match find(after) {
            Some(index) => index + before.len(),
            None => find(before).unwrap_or(OTHER),
        }
    }

    /// Returns the key of the unknown member whose value comes next.
    fn other_key(&self, reader: &Reader<'_>) -> Result<String, Fault> {
        let mut key = Reader::new(reader.text);
        key.position = self.key;
        key.string()
    }

    #[inline(never)]
    fn keep(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        if self.members.others == UnnamedMembers::Ignore {
            return reader.skip();
        }
        let key = self.other_key(reader)?;
        self.extra.push(key, Json::decode(reader)?);
        Ok(())
    }

    fn refuse_duplicates(&self, reader: &Reader<'_>, key: Option<&str>) -> Result<(), Fault> {
        match key {
            Some(key) => self.refuse_duplicate(reader, key),
            None => Ok(()),
        }
    }

    /// Refuses, or mends, the key that this object, whose end has been read, holds twice.
    #[cold]
    fn refuse_duplicate(&self, reader: &Reader<'_>, key: &str) -> Result<(), Fault> {
        let mut again = Reader::new(reader.text);
        (again.position, again.depth) = (self.start, reader.depth);
        let offset = again.second_key(key).ok().flatten();
        reader.mend_duplicate(self.start, offset.unwrap_or(self.start))
    }
}

#[inline(always)]
const fn bit(index: usize) -> u128 {
    1_u128.wrapping_shl(index as u32)
}

impl Reader<'_> {
    /// Begins an object and refuses anything else.
    #[inline]
    pub fn object(&mut self, members: &'static Members) -> Result<Object, Fault> {
        let start = self.enter_object(members.name)?;
        Ok(Object::new(members, start))
    }

    /// Reads an object: each known member by `into`, the others as they are.
    ///
    /// # Errors
    /// What [`Object::next`] refuses, a member that `into` refuses, and one that must be there and is not.
    pub fn record(
        &mut self,
        members: &'static Members,
        into: &mut dyn Record,
    ) -> Result<(), Fault> {
        let mut object = self.object(members)?;
        while let Some(member) = object.next_inline(self)? {
            if let Err(fault) = into.member(member, self) {
                self.mend_member(members, object.start, member, fault)?;
            }
        }
        if let Err(fault) = object.require_all() {
            self.mend_missing(members, object.start, object.missing_bits(), into, fault)?;
        }
        if !object.extra.is_empty()
            && let Some(extra) = into.extra()
        {
            *extra = object.extra;
        }
        self.close_mended(members, object.start);
        Ok(())
    }

    /// Does the same as [`record`](Self::record), with unknown members read into `others`.
    ///
    /// # Errors
    /// As [`record`](Self::record), and an unknown member that is not of the type of the others.
    pub fn record_with(
        &mut self,
        members: &'static Members,
        into: &mut dyn Record,
        others: &mut dyn UnknownMembers,
    ) -> Result<(), Fault> {
        let mut object = self.object(members)?;
        while let Some(member) = object.next_with(self, others)? {
            if let Err(fault) = into.member(member, self) {
                self.mend_member(members, object.start, member, fault)?;
            }
        }
        if let Err(fault) = object.require_all() {
            self.mend_missing(members, object.start, object.missing_bits(), into, fault)?;
        }
        self.close_mended(members, object.start);
        Ok(())
    }

    /// Notes for what is mended that an object is read.
    #[inline]
    fn close_mended(&self, members: &'static Members, start: usize) {
        if let Some(notes) = self.mending {
            notes.borrow_mut().close(start, members.name);
        }
    }

    /// Reads an object that has no known members into `all`.
    pub(crate) fn members(&mut self, all: &mut dyn UnknownMembers) -> Result<(), Fault> {
        static NONE: Members = Members::open("", &[]);
        let mut object = self.object(&NONE)?;
        // There are no known members: the first call reads them all.
        object.next_with(self, all)?;
        Ok(())
    }

    /// Returns the offset at which the next object names the member `key` for the second time.
    fn second_key(&mut self, key: &str) -> Result<Option<usize>, Fault> {
        self.enter_object("")?;
        let mut first = true;
        let mut seen = false;
        while self.next_member(&mut first)? {
            let start = self.position;
            if self.text_of_string()? == key {
                if seen {
                    return Ok(Some(start));
                }
                seen = true;
            }
            self.colon()?;
            self.skip()?;
        }
        Ok(None)
    }
}
