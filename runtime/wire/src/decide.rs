//! Which case of a union a value is: looks ahead in the text and leaves it unread.

use crate::cases::{Paths, Tag};
use crate::fault::{Fault, FaultCause};
use crate::reader::Reader;
use crate::scan::{self, index_of};

/// What [`Reader::tag_or_other`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
pub enum TagFound {
    /// A value of the table, by its index.
    Known(usize),
    /// Another string.
    Other,
    /// The object has no such member, or `null` where that means the same.
    Absent,
}

/// Which paths of a [`Paths`] an object has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
pub struct Present(u128);

impl Present {
    /// Returns whether the path `index` is there.
    #[inline]
    pub fn has(self, index: usize) -> bool {
        self.0 & bit(index) != 0
    }
}

impl Reader<'_> {
    /// Returns the index of the next object's tag; `None` if it has none.
    ///
    /// # Errors
    /// A tag that is not in the table, or no object.
    pub fn tag(&mut self, tag: &'static Tag) -> Result<Option<usize>, Fault> {
        if let Some(index) = self.first_tag(tag) {
            return Ok(Some(index));
        }
        let (found, offset) = self.find_tag(tag)?;
        match found {
            TagFound::Known(index) => Ok(Some(index)),
            TagFound::Absent => Ok(None),
            TagFound::Other => Err(Fault::new(offset, FaultCause::Tag(tag))),
        }
    }

    /// Returns the next object's tag, for a union that is open to other values.
    ///
    /// # Errors
    /// A tag that is not a string, or no object.
    pub fn tag_or_other(&mut self, tag: &'static Tag) -> Result<TagFound, Fault> {
        self.find_tag(tag).map(|(found, _)| found)
    }

    /// Returns the fault of an object, the next value, that has no tag.
    #[cold]
    pub fn missing_tag(&mut self, tag: &'static Tag) -> Fault {
        self.peek();
        self.fault(FaultCause::Missing {
            of: tag.type_name,
            member: tag.member,
        })
    }

    /// Returns the paths that the next object has, found in one scan.
    ///
    /// A path is there if each of its steps but the last leads to an object, and the last exists. One that leads to `null` is
    /// there only if no other one is: some peers write all members.
    pub fn present(&mut self, paths: &'static Paths) -> Result<Present, Fault> {
        let all = match paths.paths.len() {
            128 => u128::MAX,
            count => bit(count) - 1,
        };
        let (mut found, mut nulls) = (0, 0);
        self.clone().search(paths, 0, all, &mut found, &mut nulls)?;
        Ok(Present(if found == 0 { nulls } else { found }))
    }

    /// Returns the path whose first step is the first in the next object to be any path's first step.
    ///
    /// Neither the value found nor anything after it is scanned, unless it is `null`: that counts if there is no other one.
    pub fn first_present(&mut self, paths: &'static Paths) -> Result<Option<usize>, Fault> {
        let mut ahead = self.clone();
        ahead.enter_object(paths.type_name)?;
        let (mut first, mut null) = (true, None);
        while ahead.next_member(&mut first)? {
            let key = ahead.text_of_string()?;
            let found = paths
                .paths
                .iter()
                .position(|path| path.first().is_some_and(|step| *step == key));
            ahead.colon()?;
            if found.is_some() && ahead.peek() != b'n' {
                return Ok(found);
            }
            null = null.or(found);
            ahead.skip()?;
        }
        Ok(null)
    }

    /// Returns the fault of an object, the next value, that has none of the deciding members.
    #[cold]
    pub fn undecided(&mut self, paths: &'static Paths) -> Fault {
        self.peek();
        self.fault(FaultCause::Undecided(paths))
    }

    /// Returns a reader at the first element of the next array, for unions of lists; `None` if it is empty.
    ///
    /// # Errors
    /// No array.
    pub fn first_element(&mut self) -> Result<Option<Self>, Fault> {
        let mut ahead = self.clone();
        let mut array = ahead.array()?;
        Ok(array.next(&mut ahead)?.then_some(ahead))
    }

    /// Returns the tag of the next object, if it is known, the first member, and spelled without blanks and escapes.
    #[inline(always)]
    fn first_tag(&mut self, tag: &'static Tag) -> Option<usize> {
        let opens = self.peek() == b'{'
            && scan::byte(self.bytes(), self.position + 1) == b'"'
            && self.mending.is_none();
        let mut ahead = Reader {
            position: self.position + 1,
            ..*self
        };
        if !opens || !ahead.take_quoted(tag.member) {
            return None;
        }
        let start = ahead.position;
        if self.bytes().get(start..start + 2) != Some(b":\"") {
            return None;
        }
        ahead.position += 1;
        tag.values.iter().position(|value| ahead.take_quoted(value))
    }

    /// Returns the tag of the next object, and where its value stands.
    fn find_tag(&mut self, tag: &'static Tag) -> Result<(TagFound, usize), Fault> {
        let mut ahead = self.clone();
        ahead.enter_object(tag.type_name)?;
        let (mut first, mut tagged) = (true, None);
        while ahead.next_member(&mut first)? {
            let is_tag = ahead.take_quoted(tag.member) || ahead.text_of_string()? == tag.member;
            ahead.colon()?;
            if is_tag {
                tagged = Some(ahead.clone());
                // Of two tags, a reader that mends takes the last one; any other one refuses them later.
                if ahead.mending.is_none() {
                    break;
                }
            }
            ahead.skip()?;
        }
        let Some(mut ahead) = tagged else {
            return Ok((TagFound::Absent, self.position));
        };
        if ahead.peek() != b'"' {
            if tag.may_be_absent && ahead.peek() == b'n' {
                return Ok((TagFound::Absent, self.position));
            }
            return Err(ahead.fault(FaultCause::Tag(tag)));
        }
        let offset = ahead.position;
        let index = match ahead.plain_string() {
            Some(value) => index_of(tag.values, value),
            None => index_of(tag.values, &ahead.escaped_string()?),
        };
        Ok((index.map_or(TagFound::Other, TagFound::Known), offset))
    }

    /// Reads the next object and notes which of the `active` paths, all equal before `level`, it has.
    ///
    /// Recursion ends with the longest path.
    fn search(
        &mut self,
        paths: &'static Paths,
        level: usize,
        active: u128,
        found: &mut u128,
        nulls: &mut u128,
    ) -> Result<(), Fault> {
        self.enter_object(paths.type_name)?;
        let mut first = true;
        while self.next_member(&mut first)? {
            let key = self.text_of_string()?;
            self.colon()?;
            let is_null = self.peek() == b'n';
            let mut deeper = 0;
            for (index, path) in paths.paths.iter().enumerate() {
                if active & bit(index) == 0 || path.get(level).is_none_or(|step| *step != key) {
                    continue;
                }
                let is_last = path.len() == level + 1;
                *match (is_last, is_null) {
                    (true, false) => &mut *found,
                    (true, true) => &mut *nulls,
                    (false, _) => &mut deeper,
                } |= bit(index);
            }
            if deeper != 0 && self.peek() == b'{' {
                self.search(paths, level + 1, deeper, found, nulls)?;
            } else {
                self.skip()?;
            }
        }
        Ok(())
    }
}

#[inline(always)]
fn bit(index: usize) -> u128 {
    1_u128.checked_shl(index as u32).unwrap_or(0)
}
