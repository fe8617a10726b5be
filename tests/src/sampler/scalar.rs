//! Strings and numbers in many spellings, within the limits that a schema puts on them.

use mcp_revisions_schema::sorted::SortedMap;

use mcp_revisions_diff::pattern_texts;
use mcp_revisions_schema::model::Ty;
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

/// What they say where the schema names a format.
const FORMATS: &[(&str, &[&str])] = &[
    (
        "uri",
        &[
            "https://example.com/a?b=c#d",
            "file:///tmp/x%20y.txt",
            "urn:isbn:0451450523",
            "mailto:someone@example.com",
            "data:text/plain;base64,SGk=",
            "x-vendor://host:80/",
        ],
    ),
    (
        "uri-template",
        &[
            "file:///{path}",
            "https://example.com/{+base}/{id}{?q,page*}",
            "plain:no-variables",
        ],
    ),
    ("byte", &["", "SGk=", "AAEC/+8=", "QUJDREVGR0g="]),
    ("date", &["2024-02-29", "1999-12-31"]),
    (
        "date-time",
        &["2024-02-29T23:59:59.5+01:00", "1999-12-31T00:00:00Z"],
    ),
    ("email", &["someone@example.com", "a.b+c@example.org"]),
    ("uuid", &["123e4567-e89b-12d3-a456-426614174000"]),
];

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

/// Returns how many spellings of a scalar there are to try; 0 for a type that is not scalar.
pub(super) fn spellings(ty: &Ty) -> usize {
    match ty {
        Ty::String => STRINGS.len(),
        Ty::Boolean => 2,
        Ty::Integer => INTEGERS.len(),
        Ty::Number => INTEGERS.len() + NUMBERS.len(),
        _ => 0,
    }
}

/// Returns a scalar within limits, the one of this index or any; `None` for a type that is not scalar.
///
/// If no spelling is within the limits, one is returned all the same, and the judge refuses it.
pub(super) fn draw(
    random: &mut Random,
    ty: &Ty,
    limits: &SortedMap<String, Json>,
    index: Option<usize>,
    fits: impl Fn(&Node) -> bool,
) -> Option<Node> {
    let (mut list, made) = match ty {
        Ty::String => strings(limits),
        Ty::Boolean => (vec!["false", "true"], Vec::new()),
        Ty::Integer => (INTEGERS.to_vec(), numbers(limits)),
        Ty::Number => ([NUMBERS, INTEGERS].concat(), numbers(limits)),
        _ => return None,
    };
    list.extend(made.iter().map(String::as_str));
    let index = index.unwrap_or_else(|| random.below(list.len()));
    let one = |index: usize| {
        let text = list[index % list.len()].to_owned();
        match ty {
            Ty::String => Node::new(Value::String(text), Kind::String),
            Ty::Boolean => Node::new(Value::Word(text), Kind::Boolean),
            Ty::Integer => Node::new(Value::Word(text), Kind::Integer),
            _ => Node::new(Value::Word(text), Kind::Number),
        }
    };
    let mut node = one(index);
    if !fits(&node) {
        let mut others = (1..list.len()).map(|step| one(index + step));
        node = others.find(fits).unwrap_or(node);
    }
    if let Value::String(text) = &mut node.value
        && limits.is_empty()
        && random.once_in(8)
    {
        *text = text.repeat(random.below(40));
    }
    Some(node)
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

/// Strings to try, and those made for the limits: of a pattern, and as long as they may be.
fn strings(limits: &SortedMap<String, Json>) -> (Vec<&'static str>, Vec<String>) {
    let text = |name: &str| limits.get(name).and_then(Json::as_str);
    let format = FORMATS
        .iter()
        .find(|(name, _)| text("format") == Some(name));
    let list = format.map_or(STRINGS, |(_, list)| list).to_vec();
    let mut made = text("pattern").map_or_else(Vec::new, pattern_texts);
    let length = |name: &str| {
        let length = limits.get(name).and_then(Json::as_u64)?;
        usize::try_from(length).ok()
    };
    let (least, most) = (length("minLength"), length("maxLength"));
    if least.or(most).is_some() {
        let all = list.iter().copied().chain(made.iter().map(String::as_str));
        let cut = |text: &str| -> String {
            let count = text.chars().count().max(least.unwrap_or(0));
            let text = if text.is_empty() { "x" } else { text };
            let letters = text.chars().cycle();
            letters.take(count.min(most.unwrap_or(count))).collect()
        };
        made = all.map(cut).collect();
    }
    (list, made)
}

/// Numbers at the limits and between them, for those that no spelling fits by chance.
fn numbers(limits: &SortedMap<String, Json>) -> Vec<String> {
    let limit = |name: &str| limits.get(name).and_then(Json::as_f64);
    let least = limit("minimum").or(limit("exclusiveMinimum"));
    let most = limit("maximum").or(limit("exclusiveMaximum"));
    let step = limit("multipleOf").unwrap_or(1.0);
    let up = least.map(|least| (least / step).ceil() * step);
    let down = most.map(|most| (most / step).floor() * step);
    let between = least
        .zip(most)
        .map(|(least, most)| f64::midpoint(least, most));
    let made = [
        up,
        up.map(|up| up + step),
        down,
        down.map(|down| down - step),
        between,
    ];
    let multiple = limit("multipleOf").map(|step| [step, -step]);
    let made = made
        .into_iter()
        .flatten()
        .chain(multiple.into_iter().flatten());
    // What goes without saying, as it stands in the schema and with a fraction.
    let default = limit("default").map(|number| [number.to_string(), format!("{number:.1}")]);
    let default = default.into_iter().flatten();
    made.map(|number| number.to_string())
        .chain(default)
        .collect()
}
