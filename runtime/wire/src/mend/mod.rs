//! Mends a text that is not of its type: a mistake in one part costs that part.
//!
//! A reader that mends goes on where another one ends with a fault: it notes an edit of the text that makes the part fit, skips
//! the part, and so finds all mistakes in one pass. The edited text is then read strictly, as any other.
//! What a mistake means is data: the rows of [`Mistakes`]. What no row and no general rule knows stays a fault.

mod edits;
mod mistakes;
pub(crate) mod notes;
mod value;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use crate::error::Error;
use crate::fault::{Fault, FaultCause};
use crate::json::Json;
use crate::object::Record;
use crate::pointer::PointerWalk;
use crate::reader::Reader;
pub use edits::Mend;
use edits::{EditedText, Edits};
pub use mistakes::{MistakeFate, MistakeRow, Mistakes, ValueKind};
pub use notes::MendKind;
use notes::{Edit, Notes};

/// A text that was mended, and what was mended in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Mended {
    /// The text that fits its type.
    pub text: String,
    /// The mends, in the order of their places.
    pub mends: Vec<Mend>,
}

/// How often a text is read to be mended: each time again after what was mended before.
const ROUNDS: usize = 16;

/// The most parts of a text that are mended in one round.
const MOST: usize = 1000;

/// Mends a text until `read`, which reads a whole value, takes it.
///
/// # Errors
/// The first mistake that cannot be mended.
#[cold]
pub fn mend(
    text: &str,
    mistakes: Mistakes,
    read: &mut dyn FnMut(&mut Reader<'_>) -> Result<(), Fault>,
) -> Result<Mended, Error> {
    let mut whole = Reader::new(text);
    let is_json = whole.skip().and_then(|()| whole.finish());
    is_json.map_err(|fault| Error::new(&fault, text))?;
    let mut edits = Edits::new(text);
    for _ in 0..ROUNDS {
        let built = edits.build();
        let met = Cell::new(false);
        let cell = RefCell::new(Notes {
            mistakes,
            edits: Vec::new(),
        });
        let mut reader = Reader::new(&built.text);
        reader.mending = Some(&cell);
        reader.frames = Some(&met);
        let result = read(&mut reader).and_then(|()| reader.finish());
        let mut notes = cell.into_inner();
        let result = match result {
            Err(fault) => notes.root(&built.text, fault),
            Ok(()) => Ok(()),
        };
        notes.read_entries(&built.text);
        if let Err(fault) = result.and_then(|()| notes.keep(&built.text)) {
            return Err(refused(&fault, &built, text));
        }
        if notes.edits.is_empty() {
            let mends = edits.mends().map_err(|fault| Error::new(&fault, text))?;
            let text = built.text;
            return Ok(Mended { text, mends });
        }
        if let Err(fault) = edits.add(&built, notes.edits) {
            return Err(refused(&fault, &built, text));
        }
    }
    let mut reader = Reader::new(text);
    let fault = read(&mut reader)
        .err()
        .unwrap_or_else(|| reader.refuse("a value that can be mended"));
    Err(Error::new(&fault, text))
}

/// Returns the error of a fault that was met in an edited text.
fn refused(fault: &Fault, built: &EditedText, text: &str) -> Error {
    Error::new(&fault.moved(built.source_of(fault.offset())), text)
}

/// Where a member or an entry stands.
#[derive(Debug, Clone, Copy)]
struct Span {
    /// Where its key begins; its value, if it has none.
    start: usize,
    value: usize,
    end: usize,
}

/// A member whose value does not fit.
struct Unfit<'m> {
    of: &'m str,
    member: &'m str,
    is_required: bool,
}

impl Notes {
    fn fates<'n>(&'n self, of: &'n str, member: &'n str) -> impl Iterator<Item = MistakeFate> + 'n {
        let rows = self.mistakes.iter();
        rows.filter(move |row| row.is_of(of, member))
            .map(|row| row.fate)
    }

    /// Returns the value of a required member that is absent or cannot be read.
    fn value_of(&self, of: &str, member: &str) -> Option<&'static str> {
        self.fates(of, member).find_map(|fate| match fate {
            MistakeFate::Value(value) => Some(value),
            _ => None,
        })
    }

    /// Returns the value of a required member that is absent.
    fn absent(&self, of: &str, member: &str) -> Option<&'static str> {
        self.fates(of, member).find_map(|fate| match fate {
            MistakeFate::Value(value) | MistakeFate::Absent(value) => Some(value),
            _ => None,
        })
    }

    /// Adds an edit, in the place of those within it.
    fn add(&mut self, edit: Edit) -> Result<(), Fault> {
        self.edits.retain(|other| !edit.covers(other));
        if self.edits.len() >= MOST {
            return Err(edit.fault);
        }
        self.edits.push(edit);
        Ok(())
    }

    fn replace(
        &mut self,
        (start, end): (usize, usize),
        text: impl Into<String>,
        fault: Fault,
    ) -> Result<(), Fault> {
        self.add(Edit::replacing(start, end, text.into(), fault))
    }

    /// Mends a member, or gives the fault back.
    fn member(
        &mut self,
        text: &str,
        unfit: &Unfit<'_>,
        span: Span,
        fault: Fault,
    ) -> Result<(), Fault> {
        let value = text.get(span.value..span.end).unwrap_or_default();
        let is_whole = fault.offset() == span.value;
        let fates: Vec<MistakeFate> = self.fates(unfit.of, unfit.member).collect();
        let meant = fates.iter().find_map(|fate| match fate {
            MistakeFate::Means(from, to) if value::is_same(value, from) => Some((*to).to_owned()),
            MistakeFate::Among(one) if value::holds(value, one) => Some((*one).to_owned()),
            MistakeFate::Within(name) if is_whole && value != "null" => {
                let name = Json::of(*name);
                Some(format!("{{{}:{value}}}", name.text()))
            }
            MistakeFate::Reads(kind, template) if is_whole => kind.read(value, template),
            _ => None,
        });
        let range = (span.value, span.end);
        if let Some(meant) = meant {
            return self.replace(range, meant, fault);
        }
        if let Some(MistakeFate::Absent(known)) = fates
            .iter()
            .find(|fate| matches!(fate, MistakeFate::Absent(_)))
        {
            return match value {
                "null" => self.replace(range, *known, fault),
                _ => Err(fault),
            };
        }
        let fault = match self.fit(text, span, fault) {
            Ok(()) => return Ok(()),
            Err(fault) => fault,
        };
        if let Some(known) = self.value_of(unfit.of, unfit.member) {
            return self.replace(range, known, fault);
        }
        if let (true, Some(constant)) = (is_whole && value == "null", constant_of(&fault)) {
            return self.replace(range, constant, fault);
        }
        if unfit.is_required || fates.contains(&MistakeFate::Kept) {
            return Err(fault);
        }
        self.add(Edit::removing(span.start, span.value, span.end, fault))
    }

    /// Mends an entry of a list or a map: it is left out if nothing else helps.
    fn entry(&mut self, text: &str, span: Span, fault: Fault) -> Result<(), Fault> {
        match self.fit(text, span, fault) {
            Ok(()) => Ok(()),
            Err(fault) => self.add(Edit {
                is_entry: true,
                ..Edit::removing(span.start, span.value, span.end, fault)
            }),
        }
    }

    /// Mends a whole text.
    fn root(&mut self, text: &str, fault: Fault) -> Result<(), Fault> {
        let mut reader = Reader::new(text);
        reader.peek();
        let start = reader.position;
        reader.skip()?;
        let end = reader.position;
        let span = Span {
            start,
            value: start,
            end,
        };
        let is_null = text.get(start..end) == Some("null");
        if is_null && fault.expects_object() {
            return self.replace((start, end), "{}", fault);
        }
        self.fit(text, span, fault)
    }

    /// Notes that an object of this type is read, which begins at `start`: its members are the lists and maps of which entries
    /// were left out and that belong to no object within it.
    pub(crate) fn close(&mut self, start: usize, of: &'static str) {
        let within = self.edits.iter_mut().rev();
        for edit in within.take_while(|edit| edit.value >= start) {
            edit.of.get_or_insert(of);
        }
    }

    /// Makes a value fit that is plainly a spelling of another one; else gives the fault back.
    fn fit(&mut self, text: &str, span: Span, fault: Fault) -> Result<(), Fault> {
        let value = text.get(span.value..span.end).unwrap_or_default();
        let is_whole = fault.offset() == span.value;
        let range = (span.value, span.end);
        match fault.what() {
            FaultCause::NoObject(_) | FaultCause::Kind(_)
                if is_whole && fault.expects_object() && value::is_empty_array(value) =>
            {
                self.replace(range, "{}", fault)
            }
            FaultCause::Kind("an array") if is_whole && value == "null" => {
                self.replace(range, "[]", fault)
            }
            FaultCause::Missing { of, member } if is_whole => {
                self.supply(text, span, of, member, fault)
            }
            FaultCause::Undecided(paths) if is_whole => {
                let mut known = paths.paths.iter().filter_map(|path| match path {
                    [member] => Some((member, self.absent(paths.type_name, member)?)),
                    _ => None,
                });
                match known.next() {
                    Some((member, known)) => {
                        self.add(Edit::adding(span.value, member, known, fault))
                    }
                    None => Err(fault),
                }
            }
            FaultCause::Tag(tag) => {
                let at = fault.offset();
                let rest = text.get(at..).unwrap_or_default();
                match self.absent(tag.type_name, tag.member) {
                    Some(known) if rest.starts_with("null") => {
                        self.replace((at, at + "null".len()), known, fault)
                    }
                    _ => Err(fault),
                }
            }
            FaultCause::Surrogate => match value::without_lone_surrogates(value) {
                Some(whole) => self.replace(range, whole, fault),
                None => Err(fault),
            },
            _ => Err(fault),
        }
    }

    /// Supplies the member that an object lacks, the value of `span`.
    fn supply(
        &mut self,
        text: &str,
        span: Span,
        of: &str,
        member: &str,
        fault: Fault,
    ) -> Result<(), Fault> {
        let object = text.get(span.value..span.end).unwrap_or_default();
        if let Some(known) = self.absent(of, member) {
            return self.add(Edit::adding(span.value, member, known, fault));
        }
        let known = self.fates(of, member).find_map(|fate| match fate {
            MistakeFate::Beside(other, known) => value::member(object, other).map(|_| known),
            _ => None,
        });
        if let Some(known) = known {
            return self.add(Edit::adding(span.value, member, known, fault));
        }
        // The only alternative of the object has the member.
        let alternatives = self.mistakes.iter().find_map(|row| match row.fate {
            MistakeFate::Only(but) if row.is_of(of, row.member) => {
                let (key, start, end) = value::member(object, row.member)?;
                let list = object.get(start..end)?;
                Some((key, start, end, value::only(list, but, object)?))
            }
            _ => None,
        });
        match alternatives {
            Some((key, start, end, members)) => self.add(Edit {
                start: span.value + key,
                ..Edit::replacing(span.value + start, span.value + end, members, fault)
            }),
            None => Err(fault),
        }
    }

    /// Puts what an entry stands for in its place, where it would be left out.
    fn read_entries(&mut self, text: &str) {
        let mistakes = self.mistakes;
        let reads = |edit: &Edit, member: &str| {
            let mut rows = mistakes.iter().filter(|row| edit.is_by(row, member));
            rows.find_map(|row| match row.fate {
                MistakeFate::EntryReads(kind, template) => kind.read(edit.old(text), template),
                _ => None,
            })
        };
        let mut entries: Vec<&mut Edit> =
            self.edits.iter_mut().filter(|edit| edit.is_entry).collect();
        entries.sort_by_key(|edit| edit.value);
        let mut walk = PointerWalk::new(text);
        for edit in entries {
            walk.go(edit.value);
            let member = walk.list().map(|(member, _)| member);
            if let Some(read) = member.and_then(|member| reads(edit, member)) {
                *edit = Edit::replacing(edit.value, edit.end, read, edit.fault.clone());
            }
        }
    }

    /// Refuses edits that leave out what has to stay.
    fn keep(&mut self, text: &str) -> Result<(), Fault> {
        let mut entries: Vec<&Edit> = self.edits.iter().filter(|edit| edit.is_entry).collect();
        entries.sort_by_key(|edit| edit.value);
        let removed: Vec<usize> = entries.iter().map(|edit| edit.value).collect();
        let mut with_others = HashMap::new();
        let mut walk = PointerWalk::new(text);
        for edit in entries {
            walk.go(edit.value);
            let Some((member, list)) = walk.list() else {
                continue;
            };
            let rows = (self.mistakes.iter()).filter(|row| edit.is_by(row, member));
            let is_null = edit.old(text) == "null";
            // A list is walked once, however many of its entries are left out.
            let mut has_others = || {
                let others = with_others.entry(list);
                *others.or_insert_with(|| value::has_others(text, list, &removed))
            };
            for row in rows {
                let is_kept = match row.fate {
                    MistakeFate::Kept => !is_null,
                    MistakeFate::KeptSome => !is_null && !has_others(),
                    _ => false,
                };
                if is_kept {
                    return Err(edit.fault.clone());
                }
            }
        }
        Ok(())
    }
}

impl Reader<'_> {
    /// Mends the member `index` of an object, which could not be read, and goes on behind it.
    #[cold]
    #[inline(never)]
    pub(crate) fn mend_member(
        &mut self,
        members: &'static crate::object::Members,
        object: usize,
        index: usize,
        fault: Fault,
    ) -> Result<(), Fault> {
        let Some(notes) = self.mending else {
            return Err(fault);
        };
        let member = members.member_name(index);
        let text = self.text.get(object..).unwrap_or_default();
        let offset = fault.offset().saturating_sub(object);
        let Some(((key, value, end), comes_again)) = value::member_at(text, member, offset) else {
            return Err(fault);
        };
        if comes_again {
            // The last one counts: this one is left out when that is met.
            self.go_on(object + end);
            return Ok(());
        }
        let span = Span {
            start: object + key,
            value: object + value,
            end: object + end,
        };
        let unfit = Unfit {
            of: members.name,
            member,
            is_required: members.requires(index),
        };
        (notes.borrow_mut()).member(self.text, &unfit, span, fault)?;
        self.go_on(span.end);
        Ok(())
    }

    /// Leaves out the first one of two members with the key that stands at `key`: most readers take the last one.
    #[cold]
    #[inline(never)]
    pub(crate) fn mend_duplicate(&self, object: usize, key: usize) -> Result<(), Fault> {
        let fault = Fault::new(key, FaultCause::Duplicate);
        let mut second = Reader::new(self.text);
        second.position = key;
        let name = second.text_of_string().ok();
        let text = self.text.get(object..).unwrap_or_default();
        let first = name.and_then(|name| value::member(text, &name));
        match (self.mending, first) {
            (Some(notes), Some((start, value, end))) => notes.borrow_mut().add(Edit::removing(
                object + start,
                object + value,
                object + end,
                fault,
            )),
            _ => Err(fault),
        }
    }

    /// Supplies the members that an object lacks: those of the bits in `missing`.
    #[cold]
    #[inline(never)]
    pub(crate) fn mend_missing(
        &mut self,
        members: &'static crate::object::Members,
        object: usize,
        missing: u128,
        into: &mut dyn Record,
        fault: Fault,
    ) -> Result<(), Fault> {
        let Some(notes) = self.mending else {
            return Err(fault);
        };
        for index in (0..128).filter(|index| missing & (1 << index) != 0) {
            let member = members.member_name(index);
            let span = Span {
                start: object,
                value: object,
                end: self.position,
            };
            let lacks = Fault::new(
                object,
                FaultCause::Missing {
                    of: members.name,
                    member,
                },
            );
            // A constant says itself what it is.
            let constant = into.member(index, &mut Reader::new("null")).err();
            let mut notes = notes.borrow_mut();
            match constant.as_ref().and_then(constant_of) {
                Some(constant) => notes.add(Edit::adding(object, member, &constant, lacks))?,
                None => notes.supply(self.text, span, members.name, member, lacks)?,
            }
        }
        Ok(())
    }

    /// Mends the entry of a list or a map that begins at `start`, with its key if it has one, and goes on behind it.
    #[cold]
    #[inline(never)]
    pub(crate) fn mend_entry(
        &mut self,
        start: usize,
        has_key: bool,
        fault: Fault,
    ) -> Result<(), Fault> {
        let Some(notes) = self.mending else {
            return Err(fault);
        };
        let mut entry = Reader::new(self.text);
        entry.position = start;
        entry.peek();
        let start = entry.position;
        if has_key {
            entry.raw_string()?;
            entry.colon()?;
            entry.peek();
        }
        let value = entry.position;
        entry.skip()?;
        let end = entry.position;
        let span = Span { start, value, end };
        notes.borrow_mut().entry(self.text, span, fault)?;
        self.go_on(end);
        Ok(())
    }

    /// Goes on at `offset`; the depth of the whole text was checked before.
    fn go_on(&mut self, offset: usize) {
        self.position = offset;
        self.depth = 0;
    }
}

/// Returns the JSON of the constant that was expected.
fn constant_of(fault: &Fault) -> Option<String> {
    Some(match fault.what() {
        FaultCause::Constant(text) => Json::of(text).into_text(),
        FaultCause::ConstantLiteral(value) => value.to_owned(),
        _ => return None,
    })
}
