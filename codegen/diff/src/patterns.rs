//! The patterns of a schema: what they match, and small texts that they match.

use regex::Regex;
use regex_syntax::hir::{Class, Hir, HirKind};

use super::steps::StepBudget;
use mcp_revisions_schema::sorted::SortedMap;

/// Maximum length of a text made for a pattern.
const MAX_TEXT: usize = 2_048;

/// Maximum number of parts of a pattern on the way to a text: what is repeated may add nothing to it.
const MAX_STEPS: usize = 10_000;

/// Patterns by their text; `None` for one that cannot be read here, such as one that looks ahead.
#[derive(Debug, Default)]
pub(crate) struct Patterns(SortedMap<String, Option<Regex>>);

impl Patterns {
    pub(super) fn read(&mut self, text: &str) {
        if !self.0.contains_key(text) {
            self.0.insert(text.to_owned(), Regex::new(text).ok());
        }
    }

    /// Returns whether a text matches; `None` if the pattern cannot be decided.
    pub(super) fn matches(&self, pattern: &str, text: &str) -> Option<bool> {
        // Beyond ASCII the classes of the two dialects are not the same.
        let known = text.is_ascii().then(|| self.0.get(pattern))??;
        known.as_ref().map(|regex| regex.is_match(text))
    }
}

/// Makes small texts for a pattern; whether they match it is to be asked.
pub fn texts(pattern: &str) -> Vec<String> {
    let Ok(hir) = regex_syntax::parse(pattern) else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for choice in 0..4 {
        let mut text = Vec::new();
        if spell(&hir, choice, &StepBudget::new(MAX_STEPS), &mut text).is_some()
            && let Ok(text) = String::from_utf8(text)
            && !all.contains(&text)
        {
            all.push(text);
        }
    }
    all
}

/// Writes one text of the pattern. Returns `None` if that would be too long or too much work, or if there is none.
fn spell(hir: &Hir, choice: usize, steps: &StepBudget, text: &mut Vec<u8>) -> Option<()> {
    steps.take(1)?;
    if text.len() > MAX_TEXT {
        return None;
    }
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.extend_from_slice(&literal.0),
        HirKind::Class(class) => text.push(letter(class, choice)?),
        HirKind::Repetition(repetition) => {
            let least = usize::try_from(repetition.min).ok()?;
            let most = repetition.max.and_then(|max| usize::try_from(max).ok());
            let count = (least + choice / 2).min(most.unwrap_or(usize::MAX));
            for _ in 0..count {
                spell(&repetition.sub, choice, steps, text)?;
            }
        }
        HirKind::Capture(capture) => spell(&capture.sub, choice, steps, text)?,
        HirKind::Concat(parts) => {
            for part in parts {
                spell(part, choice, steps, text)?;
            }
        }
        HirKind::Alternation(parts) => {
            spell(parts.get(choice % parts.len().max(1))?, choice, steps, text)?
        }
    }
    Some(())
}

/// One letter of a class: a plain one, if there is any.
fn letter(class: &Class, choice: usize) -> Option<u8> {
    let holds = |byte: &u8| match class {
        Class::Unicode(class) => {
            (class.iter()).any(|range| (range.start()..=range.end()).contains(&char::from(*byte)))
        }
        Class::Bytes(class) => {
            (class.iter()).any(|range| (range.start()..=range.end()).contains(byte))
        }
    };
    let mut plain: Vec<u8> = b"xa0AZ9-_ ./".iter().copied().filter(holds).collect();
    if plain.is_empty() {
        plain = (0x20..0x7f).filter(holds).take(4).collect();
    }
    plain.get(choice % plain.len().max(1)).copied()
}
