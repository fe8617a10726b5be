//! Texts of values that do not fit, looked at without their type.

use std::borrow::Cow;
use std::fmt::Write;

use crate::json::{Elements, Json};
use crate::reader::Reader;
use crate::text;

/// Returns whether a text is an array without elements.
pub(super) fn is_empty_array(value: &str) -> bool {
    let inner = value
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    inner.is_some_and(|inner| inner.trim().is_empty())
}

/// Returns whether two texts are the same JSON, in any spelling.
pub(super) fn is_same(value: &str, other: &str) -> bool {
    let [value, other] = [value, other].map(Json::from_text);
    value.is_ok_and(|value| other.is_ok_and(|other| value == other))
}

/// Returns whether a text is a list that has this value among its entries.
pub(super) fn holds(value: &str, one: &str) -> bool {
    Elements::of(value).any(|entry| is_same(entry, one))
}

/// Returns the offsets of a member in an object, the first value of the text: of its key, its value and its end.
pub(super) fn member(text: &str, name: &str) -> Option<(usize, usize, usize)> {
    let mut members = members(text)?;
    members.find_map(|(key, at)| (key == name).then_some(at))
}

/// Returns the offsets of the member of this name around `offset`, and whether another one of this name comes later.
pub(super) fn member_at(
    text: &str,
    name: &str,
    offset: usize,
) -> Option<((usize, usize, usize), bool)> {
    let named = members(text)?.filter_map(|(key, at)| (key == name).then_some(at));
    let mut later = named.skip_while(|(_, _, end)| *end <= offset);
    Some((later.next()?, later.next().is_some()))
}

/// Returns the members of an object, the first value of the text, with the offsets of key, value and end.
fn members(
    text: &str,
) -> Option<impl Iterator<Item = (Cow<'_, str>, (usize, usize, usize))> + use<'_>> {
    let mut reader = Reader::new(text);
    reader.enter_object("").ok()?;
    let mut first = true;
    Some(std::iter::from_fn(move || {
        if !reader.next_member(&mut first).ok()? {
            return None;
        }
        let key = reader.position;
        let raw = reader.raw_string().ok()?;
        reader.colon().ok()?;
        reader.peek();
        let value = reader.position;
        reader.skip().ok()?;
        let name = text::unescape_lossy(raw);
        Some((name, (key, value, reader.position)))
    }))
}

/// Returns the members, without braces, of the only entry of a list of objects that is not `but`, apart from those that
/// `object` has.
pub(super) fn only(list: &str, but: &str, object: &str) -> Option<String> {
    let mut reader = Reader::new(list);
    let mut array = reader.array().ok()?;
    let mut found = None;
    while array.next(&mut reader).ok()? {
        let entry = reader.text_of_value().ok()?;
        let is_other = !is_same(entry, but);
        if is_other && found.replace(entry).is_some() {
            return None;
        }
    }
    let entry = found?;
    let mut text = String::new();
    for (name, (key, _, end)) in members(entry)? {
        if member(object, &name).is_none() {
            text.push_str(entry.get(key..end)?);
            text.push(',');
        }
    }
    text.pop();
    (!text.is_empty()).then_some(text)
}

/// Returns whether a list has an entry that stays: that does not begin at one of the sorted offsets in `removed`.
pub(super) fn has_others(text: &str, list: usize, removed: &[usize]) -> bool {
    let mut reader = Reader::new(text);
    reader.position = list;
    let Ok(mut array) = reader.array() else {
        return false;
    };
    while let Ok(true) = array.next(&mut reader) {
        reader.peek();
        if removed.binary_search(&reader.position).is_err() {
            return true;
        }
        if reader.skip().is_err() {
            break;
        }
    }
    false
}

/// Returns a string, quotes included, with U+FFFD in the place of each half of a surrogate pair; `None` if it is none.
pub(super) fn without_lone_surrogates(value: &str) -> Option<String> {
    let raw = value.strip_prefix('"')?.strip_suffix('"')?;
    let whole = text::unescape_lossy(raw);
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write!(text, "{}", Json::of(&*whole).text());
    Some(text)
}
