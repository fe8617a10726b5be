//! Edits of a text, and what it becomes by them: each knows where it stands in the text as it was given.

use std::cmp::Reverse;
use std::ops::Range;

use super::notes::{Edit, MendKind};
use crate::fault::Fault;
use crate::json::Json;
use crate::pointer::{self, PointerWalk};

/// A part that was mended.
#[derive(Debug, Clone, PartialEq)]
pub struct Mend {
    /// The JSON pointer of the part in the text as it was given.
    pub pointer: String,
    /// What was done there.
    pub kind: MendKind,
    /// The value that stood there; `None` if none did.
    pub value: Option<Json>,
    /// The list entry that it is or belongs to, as ``tool `add` ``; `None` if none of them has a name.
    pub part: Option<String>,
}

/// The most bytes of the pointers of all mends: each repeats the names around its part, so that they can be far longer than the text.
const MOST_BYTES: usize = 16 << 20;

/// The edits of one text.
pub(super) struct Edits<'t> {
    source: &'t str,
    /// In order, and apart from each other.
    all: Vec<Edit>,
}

/// A text with its edits made.
pub(super) struct EditedText {
    pub(super) text: String,
    pieces: Vec<EditedStretch>,
}

/// A stretch of an edited text.
struct EditedStretch {
    /// Where it begins.
    start: usize,
    /// Where it begins in the source; for one that an edit put there, where the edit begins.
    source: usize,
    /// The edit whose text it is of, and where it begins in that.
    edit: Option<(usize, usize)>,
}

impl<'t> Edits<'t> {
    pub(super) fn new(source: &'t str) -> Self {
        Self {
            source,
            all: Vec::new(),
        }
    }

    pub(super) fn build(&self) -> EditedText {
        let mut built = EditedText {
            text: String::with_capacity(self.source.len()),
            pieces: Vec::new(),
        };
        let mut at = 0;
        for (index, edit) in self.all.iter().enumerate() {
            built.push(self.source.get(at..edit.start), at, None);
            built.push(Some(&edit.text), edit.start, Some((index, 0)));
            at = edit.end;
        }
        built.push(self.source.get(at..), at, None);
        built.without_spare_commas()
    }

    /// Adds edits of the text that was built last. The error is the fault of an edit that does not fit in.
    pub(super) fn add(&mut self, built: &EditedText, edits: Vec<Edit>) -> Result<(), Fault> {
        let (mut inner, mut outer) = (Vec::new(), Vec::new());
        for edit in edits {
            match self.range_within(built, &edit) {
                Some((index, range)) => inner.push((index, range, edit)),
                None => outer.push(edit),
            }
        }
        // The text of an edit is not the sender's: it is changed, from its end on, and not told again.
        inner.sort_by_key(|(_, range, _)| Reverse(range.start));
        for (index, range, edit) in inner {
            match self.all.get_mut(index) {
                Some(other) => other.text.replace_range(range, &edit.text),
                None => return Err(edit.fault),
            }
        }
        for mut edit in outer {
            let last = built.piece(edit.end.max(1) - 1);
            edit.start = built.source_of(edit.start);
            edit.value = built.source_of(edit.value);
            edit.end = match (edit.added.is_some(), last) {
                (true, _) => edit.start,
                (false, Some((piece, offset))) => match piece.edit {
                    None => piece.source + offset + 1,
                    Some((index, _)) => self.all.get(index).map_or(edit.end, |other| other.end),
                },
                (false, None) => return Err(edit.fault),
            };
            self.all.retain(|other| !edit.covers(other));
            let is_apart = |other: &Edit| other.end <= edit.start || edit.end <= other.start;
            if edit.end < edit.start || !self.all.iter().all(is_apart) {
                return Err(edit.fault);
            }
            self.all.push(edit);
        }
        // What is added stands before the member that comes first.
        self.all.sort_by_key(|edit| (edit.start, edit.end));
        Ok(())
    }

    /// Returns the edit that put a part of its text where another one changes it, and the range of that part.
    fn range_within(&self, built: &EditedText, edit: &Edit) -> Option<(usize, Range<usize>)> {
        let (index, range) = built.within_edit(edit)?;
        let text = &self.all.get(index)?.text;
        let is_part = range != (0..text.len()) && text.get(range.clone()).is_some();
        is_part.then_some((index, range))
    }

    /// Returns the mends, in order. The error is the fault at which the pointers take more than [`MOST_BYTES`].
    pub(super) fn mends(&self) -> Result<Vec<Mend>, Fault> {
        let mut all: Vec<&Edit> = self.all.iter().collect();
        all.sort_by_key(|edit| edit.value);
        let mut walk = PointerWalk::new(self.source);
        let mut room = MOST_BYTES;
        let mend = |edit: &Edit| {
            walk.go(edit.value);
            let mut pointer = walk.pointer();
            let rest = room.checked_sub(pointer.len());
            room = rest.ok_or_else(|| edit.fault.moved(edit.value))?;
            if let Some(member) = &edit.added {
                pointer.push('/');
                pointer.push_str(&pointer::escaped(member));
            }
            let value = edit.added.is_none().then(|| edit.old(self.source));
            Ok(Mend {
                pointer,
                kind: edit.kind,
                value: value.and_then(|text| Json::from_text(text).ok()),
                part: walk.part(),
            })
        };
        all.into_iter().map(mend).collect()
    }
}

impl EditedText {
    fn push(&mut self, text: Option<&str>, source: usize, edit: Option<(usize, usize)>) {
        let Some(text) = text.filter(|text| !text.is_empty()) else {
            return;
        };
        self.pieces.push(EditedStretch {
            start: self.text.len(),
            source,
            edit,
        });
        self.text.push_str(text);
    }

    /// Leaves out the commas that separate nothing any more.
    fn without_spare_commas(self) -> Self {
        let spare = spare_commas(self.text.as_bytes());
        if spare.is_empty() {
            return self;
        }
        let mut built = Self {
            text: String::with_capacity(self.text.len()),
            pieces: Vec::new(),
        };
        let ends = self
            .pieces
            .iter()
            .skip(1)
            .map(|next| next.start)
            .chain([self.text.len()]);
        let mut commas = spare.into_iter().peekable();
        for (piece, end) in self.pieces.iter().zip(ends) {
            let mut at = piece.start;
            while let Some(comma) = commas.next_if(|comma| *comma < end) {
                built.push_part(&self.text, piece, at, comma);
                at = comma + 1;
            }
            built.push_part(&self.text, piece, at, end);
        }
        built
    }

    /// Adds a part of a piece of another text.
    fn push_part(&mut self, text: &str, piece: &EditedStretch, start: usize, end: usize) {
        let within = start - piece.start;
        let (source, edit) = match piece.edit {
            None => (piece.source + within, None),
            Some((index, from)) => (piece.source, Some((index, from + within))),
        };
        self.push(text.get(start..end), source, edit);
    }

    /// Returns the piece that an offset is in, and how far.
    fn piece(&self, offset: usize) -> Option<(&EditedStretch, usize)> {
        let after = self.pieces.partition_point(|piece| piece.start <= offset);
        let piece = self.pieces.get(after.checked_sub(1)?)?;
        Some((piece, offset - piece.start))
    }

    /// Returns the edit whose text another edit changes, and the range in that text.
    fn within_edit(&self, edit: &Edit) -> Option<(usize, Range<usize>)> {
        let place = |offset| {
            let (piece, within) = self.piece(offset)?;
            piece.edit.map(|(index, from)| (index, from + within))
        };
        let (first, start) = place(edit.start)?;
        let end = match edit.added {
            Some(_) if start == 0 => return None,
            Some(_) => start,
            None => match place(edit.end.checked_sub(1)?)? {
                (last, end) if last == first => end + 1,
                _ => return None,
            },
        };
        Some((first, start..end))
    }

    /// Returns the offset in the source for one in the mended text: within an edit, the begin of the edit.
    pub(super) fn source_of(&self, offset: usize) -> usize {
        match self.piece(offset) {
            Some((piece, within)) if piece.edit.is_none() => piece.source + within,
            Some((piece, _)) => piece.source,
            None => offset,
        }
    }
}

/// Returns the commas, outside of strings, that follow no value or come before none.
fn spare_commas(text: &[u8]) -> Vec<usize> {
    let mut spare = Vec::new();
    let mut last = (b'[', 0);
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'"' => {
                at = crate::scan::string_end(text, at + 1).map_or(text.len(), |end| end - 1);
                last = (b'"', at);
            }
            b',' if matches!(last.0, b'[' | b'{' | b',') => spare.push(at),
            b']' | b'}' => {
                if last.0 == b',' {
                    spare.push(last.1);
                }
                last = (byte, at);
            }
            b' ' | b'\n' | b'\r' | b'\t' => {}
            _ => last = (byte, at),
        }
        at += 1;
    }
    spare.sort_unstable();
    spare
}
