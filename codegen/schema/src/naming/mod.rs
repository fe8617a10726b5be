//! Wire names to Rust names.

pub mod taken;

use heck::{ToSnakeCase, ToUpperCamelCase};

/// The variant of an open enum that holds the strings without names.
pub const OTHER: &str = "Other";

/// Rust's reserved words, strict and future.
const RESERVED: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
    "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Makes a field or module name: `nextCursor` becomes `next_cursor`, `type` becomes `type_`.
pub fn snake_case(wire: &str) -> String {
    finish(wire.to_snake_case(), "n")
}

/// Makes a type or variant name: `input_required` becomes `InputRequired`.
pub fn pascal_case(wire: &str) -> String {
    finish(wire.to_upper_camel_case(), "N")
}

/// Keeps a name of the schema, with its first letter in upper case and without what Rust refuses.
pub fn type_name(definition: &str) -> String {
    let parts = definition.split(|c: char| !c.is_alphanumeric());
    finish(parts.map(capitalized).collect(), "N")
}

/// Returns the name with the first number behind it, from 2 on, that is not taken.
pub fn numbered(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let mut all = (2..).map(|number| format!("{name}{number}"));
    all.find(|one| !is_taken(one)).unwrap_or_default()
}

/// Returns whether Rust takes a name as an identifier.
pub fn is_identifier(name: &str) -> bool {
    let mut letters = name.chars();
    (letters.next()).is_some_and(|first| first == '_' || unicode_ident::is_xid_start(first))
        && letters.all(unicode_ident::is_xid_continue)
        && !matches!(name, "_" | "Self")
        && !RESERVED.contains(&name)
}

/// Returns whether Rust takes a text as the path of a type without generic arguments: `mcp_wire::Json`, `crate::Uri`.
pub(crate) fn is_path(text: &str) -> bool {
    let relative = text.strip_prefix("::").unwrap_or(text);
    let segment = |name: &str| is_identifier(name) || matches!(name, "crate" | "self" | "super");
    relative.split("::").all(segment)
}

/// Returns the id of a rule about a place: words of small letters and digits.
pub fn rule_id(place: &str) -> String {
    let dashed = snake_case(&place.replace(['.', '|', ' ', '/', '*'], "_")).replace('_', "-");
    let plain =
        |letter: &char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || *letter == '-';
    let id: String = dashed.chars().filter(plain).collect();
    if id.starts_with(|first: char| first.is_ascii_lowercase()) {
        id
    } else {
        format!("at-{id}")
    }
}

/// Returns a name reduced to characters that Rust always takes.
pub(crate) fn plain(name: &str) -> String {
    let plain = |letter: &char| letter.is_ascii_alphanumeric() || *letter == '_';
    name.chars().filter(plain).collect()
}

/// Returns the known name that is nearest to an unknown one, if any is near enough to be meant.
///
/// ```
/// let known = ["tools/call", "tools/list"];
/// assert_eq!(mcp_revisions_schema::naming::nearest("tool/cal", known), Some("tools/call"));
/// assert_eq!(mcp_revisions_schema::naming::nearest("ping", known), None);
/// ```
pub fn nearest<'n>(unknown: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let wanted = unknown.to_lowercase();
    let likeness =
        |name: &str| strsim::normalized_damerau_levenshtein(&wanted, &name.to_lowercase());
    let likely = known.into_iter().map(|name| (likeness(name), name));
    // At half of its letters a name is another one.
    let near = likely.filter(|(likeness, _)| *likeness > 0.5);
    near.max_by(|(a, first), (b, second)| a.total_cmp(b).then_with(|| second.cmp(first)))
        .map(|(_, name)| name)
}

/// `digit` is put before a name that starts with a digit.
fn finish(name: String, digit: &str) -> String {
    match name.chars().next() {
        None => format!("{digit}ameless"),
        Some(first) if first.is_numeric() => format!("{digit}{name}"),
        // The one reserved word that begins with a capital.
        Some(_) if name == "Self" => "SelfValue".to_owned(),
        Some(_) if RESERVED.contains(&name.as_str()) => format!("{name}_"),
        Some(_) => name,
    }
}

/// Puts the first letter of a word in upper case.
pub fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}
