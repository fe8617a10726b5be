//! Small values of scalar kinds: at the limits of a schema, beside them, and between those of two sides.

use mcp_revisions_schema::sorted::SortedMap;

use serde_json::{Value, json};

use mcp_revisions_schema::schema::JsonType;

/// Maximum length of texts that show a limit.
const MAX_TEXT: u32 = 20_000;

/// Returns small values of a kind: those at its limits, and some beside them.
pub(super) fn scalar(kind: JsonType, limits: &SortedMap<String, Value>) -> Vec<Value> {
    match kind {
        JsonType::String => strings(limits),
        JsonType::Boolean => vec![json!(true), json!(false)],
        JsonType::Null => vec![json!(null)],
        JsonType::Integer => numbers(limits).into_iter().filter(Value::is_i64).collect(),
        JsonType::Number => [numbers(limits), vec![json!(1.5), json!(0.5)]].concat(),
        JsonType::Array => vec![json!([])],
        JsonType::Object => vec![json!({})],
    }
}

fn strings(limits: &SortedMap<String, Value>) -> Vec<Value> {
    let text = match limits.get("format").and_then(Value::as_str) {
        Some("uri") => "file:///a",
        Some("date-time") => "2025-01-01T00:00:00Z",
        Some("date") => "2025-01-01",
        Some("email") => "a@example.org",
        Some("byte") => "AA==",
        _ => "x",
    };
    // A constant may be the first.
    let texts = [text.to_owned(), "y".to_owned()];
    let lengths = ["minLength", "maxLength"]
        .into_iter()
        .filter_map(|name| limit(limits, name))
        .filter(|length| (0.0..=f64::from(MAX_TEXT)).contains(length));
    let long = lengths.map(|length| "x".repeat(count(length, MAX_TEXT)));
    texts.into_iter().chain(long).map(Value::from).collect()
}

/// Returns the whole number that is a limit, or the next one above it, but no more than the `most`.
pub(super) fn count(limit: f64, most: u32) -> usize {
    let below = (0..most).take_while(|count| f64::from(*count) < limit);
    below.count()
}

fn numbers(limits: &SortedMap<String, Value>) -> Vec<Value> {
    let mut all = vec![json!(1), json!(0), json!(-1)];
    let bounds = BOUNDS.iter().filter_map(|name| limits.get(*name));
    all.extend(bounds.flat_map(around));
    all
}

/// Limits of numbers.
const BOUNDS: [&str; 5] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
];

/// Returns a bound, and the whole numbers beside it.
fn around(at: &Value) -> Vec<Value> {
    let mut all = vec![at.clone()];
    if let Some(at) = at.as_i64() {
        all.extend([json!(at.saturating_sub(1)), json!(at.saturating_add(1))]);
    }
    all
}

/// Returns values that a limit of the other side may refuse.
pub(crate) fn beside_limit(name: &str, limit: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    if BOUNDS.contains(&name) {
        all.extend(around(limit));
        if let Some(at) = limit.as_f64() {
            // A part of a step is a multiple of none, and beside a large number another one stands far away.
            all.extend([at - 0.5, at + 0.5, at / 2.0, at * 1.5, at * 2.0].map(|near| json!(near)));
        }
    }
    if matches!(name, "minLength" | "maxLength")
        && let Some(at) = limit.as_u64().filter(|at| *at < u64::from(MAX_TEXT))
    {
        let length = usize::try_from(at).unwrap_or(0);
        let lengths = [length.saturating_sub(1), length + 1];
        all.extend(lengths.map(|length| json!("x".repeat(length))));
    }
    all
}

/// Returns numbers between the bounds of two sides: one of them may refuse what the other one takes.
pub(super) fn between_bounds([old, new]: [&SortedMap<String, Value>; 2]) -> Vec<Value> {
    let bounds = |limits: &SortedMap<String, Value>| -> Vec<f64> {
        BOUNDS
            .iter()
            .filter_map(|name| limit(limits, name))
            .collect()
    };
    let news = bounds(new);
    let pairs = bounds(old)
        .into_iter()
        .flat_map(|old| news.iter().map(move |new| (old, *new)));
    pairs.map(|(old, new)| json!((old + new) / 2.0)).collect()
}

/// Returns a limit that is a number.
pub(super) fn limit(limits: &SortedMap<String, Value>, name: &str) -> Option<f64> {
    limits.get(name).and_then(Value::as_f64)
}
