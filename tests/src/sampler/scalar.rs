//! Strings and numbers in many spellings, within the limits that a schema puts on them.

use std::collections::BTreeMap;

use mcp_schema::model::Ty;
use serde_json::Value as Json;

use crate::random::Random;
use crate::tree::{Kind, Node, Value};

/// What strings may say.
const STRINGS: &[&str] = &[
    "",
    "plain",
    "with \"quotes\", a \\ and a /",
    "line\nfeed\ttab\r\u{8}\u{c}",
    "\0 and \u{1f}",
    "naïve 名前 😀",
    "\u{2028}\u{feff}",
    "null",
    "50.0",
    "{\"type\":\"text\"}",
    "a string that is long enough for a reader that takes eight or sixteen bytes at a time, and \"then\" some more",
];

const URIS: &[&str] = &[
    "https://example.com/a?b=c#d",
    "file:///tmp/x%20y.txt",
    "urn:isbn:0451450523",
    "mailto:someone@example.com",
    "data:text/plain;base64,SGk=",
    "x-vendor://host:80/",
];

const URI_TEMPLATES: &[&str] = &[
    "file:///{path}",
    "https://example.com/{+base}/{id}{?q,page*}",
    "plain:no-variables",
];

const BYTES: &[&str] = &["", "SGk=", "AAEC/+8=", "QUJDREVGR0g="];

/// Whole numbers: small, negative, beyond every machine word, and with point or exponent.
const INTEGERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "42",
    "-0",
    "5.0",
    "1e2",
    "1E+3",
    "-10.00e1",
    "2147483648",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "18446744073709551616",
    "123456789012345678901234567890",
    "-98765432109876543210987654321.0",
];

/// Numbers that are not whole, or do not look it.
const NUMBERS: &[&str] = &[
    "50",
    "50.0",
    "1e2",
    "-0.0",
    "0.1",
    "0.10",
    "0.5",
    "1e-7",
    "1.5E+10",
    "3.141592653589793238462643383279",
    "-2.5",
    "1e300",
    "5e-324",
];

/// How many spellings of a scalar there are to try; none for what is no scalar.
pub(super) fn spellings(ty: &Ty) -> usize {
    match ty {
        Ty::String => STRINGS.len(),
        Ty::Boolean => 2,
        Ty::Integer => INTEGERS.len(),
        Ty::Number => INTEGERS.len() + NUMBERS.len(),
        _ => 0,
    }
}

/// A scalar, the one of this index or any; none for what is no scalar.
pub(super) fn draw(
    random: &mut Random,
    ty: &Ty,
    limits: &BTreeMap<String, Json>,
    index: Option<usize>,
) -> Option<Node> {
    let count = spellings(ty);
    let index = index.unwrap_or_else(|| random.below(count));
    let word = |word: &str| Value::Word(word.to_owned());
    Some(match ty {
        Ty::String => Node::new(Value::String(string(random, limits, index)), Kind::String),
        Ty::Boolean => Node::new(word(["false", "true"][index % 2]), Kind::Boolean),
        Ty::Integer => Node::new(word(number(INTEGERS, limits, index)), Kind::Integer),
        Ty::Number => {
            let all: Vec<&str> = [NUMBERS, INTEGERS].concat();
            Node::new(word(number(&all, limits, index)), Kind::Number)
        }
        _ => return None,
    })
}

/// Any number, for opaque JSON.
pub(super) fn any_number(random: &mut Random) -> &'static str {
    let list = if random.once_in(2) { INTEGERS } else { NUMBERS };
    random.pick(list).copied().unwrap_or("0")
}

/// Any string, for opaque JSON.
pub(super) fn any_string(random: &mut Random) -> String {
    random.pick(STRINGS).copied().unwrap_or_default().to_owned()
}

fn string(random: &mut Random, limits: &BTreeMap<String, Json>, index: usize) -> String {
    let format = limits.get("format").and_then(Json::as_str);
    let list = match format {
        Some("uri") => URIS,
        Some("uri-template") => URI_TEMPLATES,
        Some("byte") => BYTES,
        // Another format is another list to write; what is drawn meanwhile does not fit, and the judge says so.
        _ => STRINGS,
    };
    let one = list.get(index % list.len()).copied().unwrap_or_default();
    match format {
        None if random.once_in(8) => one.repeat(random.below(40)),
        _ => one.to_owned(),
    }
}

/// The number of this index, or the next one within the limits.
fn number<'s>(list: &[&'s str], limits: &BTreeMap<String, Json>, index: usize) -> &'s str {
    let limit = |name: &str| limits.get(name).and_then(Json::as_f64);
    let fits = |text: &&&str| {
        let value: f64 = text.parse().unwrap_or(f64::NAN);
        limit("minimum").is_none_or(|least| value >= least)
            && limit("maximum").is_none_or(|most| value <= most)
    };
    let fitting: Vec<&&str> = list.iter().filter(fits).collect();
    match fitting.as_slice() {
        [] => "0",
        fitting => fitting[index % fitting.len()],
    }
}
