//! A YAML document as JSON, by the core schema of YAML 1.2: what the parser tells of it, put together within limits.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Tag};
use serde_json::{Map, Number, Value};

/// Maximum number of lists and mappings within each other.
const DEPTH: usize = 32;
/// Maximum number of values, those that aliases repeat included.
const VALUES: usize = 4 << 10;
/// Maximum number of bytes of texts and keys, those that aliases repeat included.
const TEXT_BYTES: usize = 256 << 10;
/// The handle of the tags that YAML itself defines.
const CORE: &str = "tag:yaml.org,2002:";

/// A list or a mapping that has not ended yet.
enum YamlContainer {
    List(Vec<Value>),
    /// The fields, and the key whose value comes next.
    Mapping(Map<String, Value>, Option<String>),
}

/// The part of a document that was read.
#[derive(Default)]
struct YamlDocument {
    open: Vec<(YamlContainer, usize)>,
    root: Option<Value>,
    /// The values that aliases repeat, by the number of their anchor.
    anchors: HashMap<usize, Value>,
    size: YamlSize,
}

/// The size of a value or of a document, with all that is in it.
#[derive(Clone, Copy, Default)]
struct YamlSize {
    values: usize,
    /// Number of bytes of texts and keys.
    bytes: usize,
}

impl YamlSize {
    /// Returns the size of a value.
    fn of(value: &Value) -> Self {
        let mut size = Self::default();
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            size.values += 1;
            match value {
                Value::String(text) => size.bytes += text.len(),
                Value::Array(values) => open.extend(values),
                Value::Object(fields) => {
                    size.bytes += fields.keys().map(String::len).sum::<usize>();
                    open.extend(fields.values());
                }
                _ => {}
            }
        }
        size
    }

    /// Adds so many values and bytes.
    ///
    /// # Errors
    /// Returns the limit that is passed.
    fn grow(&mut self, more: Self) -> Result<(), String> {
        self.values += more.values;
        self.bytes += more.bytes;
        if self.values > VALUES {
            return Err(format!("it has more than {VALUES} values"));
        }
        if self.bytes > TEXT_BYTES {
            return Err(format!(
                "its texts have more than {TEXT_BYTES} bytes, those that aliases repeat included"
            ));
        }
        Ok(())
    }
}

/// Reads a text that is one document.
///
/// # Errors
/// Returns the reason why it cannot be read, with the line.
pub(super) fn read(text: &str) -> Result<Value, String> {
    let mut document = YamlDocument::default();
    let mut documents = 0;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| format!("the YAML at its start: {error}"))?;
        let line = span.start.line();
        if matches!(event, Event::DocumentStart(_)) {
            documents += 1;
        }
        let added = match documents {
            0 | 1 => document.add(event),
            _ => Err("it has more than one document".to_owned()),
        };
        // The line of the fence is the first one of the file.
        added.map_err(|why| format!("the YAML at its start, line {}: {why}", line + 1))?;
    }
    Ok(document.root.unwrap_or_default())
}

impl YamlDocument {
    fn add(&mut self, event: Event<'_>) -> Result<(), String> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                if let Some((YamlContainer::Mapping(fields, key @ None), _)) = self.open.last_mut()
                {
                    let name = text.into_owned();
                    if fields.contains_key(&name) {
                        return Err(format!("`{name}` stands there twice"));
                    }
                    let bytes = name.len();
                    self.size.grow(YamlSize { values: 0, bytes })?;
                    *key = Some(name);
                    return Ok(());
                }
                let value = scalar(&text, style, tag.as_deref())?;
                self.size.grow(YamlSize::of(&value))?;
                self.place(value, anchor)
            }
            Event::SequenceStart(anchor, tag) => {
                self.begin(YamlContainer::List(Vec::new()), anchor, tag.as_deref())
            }
            Event::MappingStart(anchor, tag) => {
                let fields = YamlContainer::Mapping(Map::new(), None);
                self.begin(fields, anchor, tag.as_deref())
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some((YamlContainer::List(values), anchor)) => {
                    self.place(Value::Array(values), anchor)
                }
                Some((YamlContainer::Mapping(fields, _), anchor)) => {
                    self.place(Value::Object(fields), anchor)
                }
                None => Ok(()),
            },
            Event::Alias(anchor) => {
                let Some(value) = self.anchors.get(&anchor) else {
                    return Err("an alias of a value that is not there yet".to_owned());
                };
                self.size.grow(YamlSize::of(value))?;
                let repeated = value.clone();
                self.place(repeated, 0)
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(()),
        }
    }

    fn begin(
        &mut self,
        container: YamlContainer,
        anchor: usize,
        tag: Option<&Tag>,
    ) -> Result<(), String> {
        if let Some(tag) = tag.filter(|tag| !matches!(&*name_of(tag), "!" | "!!map" | "!!seq")) {
            return Err(format!(
                "the tag `{}` has no meaning in JSON: remove it",
                name_of(tag)
            ));
        }
        if self.open.len() >= DEPTH {
            return Err(format!("it is more than {DEPTH} levels deep"));
        }
        self.open.push((container, anchor));
        self.size.grow(YamlSize {
            values: 1,
            bytes: 0,
        })
    }

    /// Puts a value where it stands.
    fn place(&mut self, value: Value, anchor: usize) -> Result<(), String> {
        // The parser numbers anchors from 1; a value without one has 0.
        if anchor != 0 {
            self.size.grow(YamlSize::of(&value))?;
            self.anchors.insert(anchor, value.clone());
        }
        match self.open.last_mut() {
            None => self.root = Some(value),
            Some((YamlContainer::List(values), _)) => values.push(value),
            Some((YamlContainer::Mapping(fields, key), _)) => match key.take() {
                Some(key) => _ = fields.insert(key, value),
                None => return Err("a key that is not a text".to_owned()),
            },
        }
        Ok(())
    }
}

/// Returns a tag as it is written.
fn name_of(tag: &Tag) -> String {
    match tag.handle.as_str() {
        CORE => format!("!!{}", tag.suffix),
        handle => format!("{handle}{}", tag.suffix),
    }
}

/// Returns the value of a scalar.
fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Value, String> {
    let is_plain = match tag.map(name_of).as_deref() {
        None => style == ScalarStyle::Plain,
        Some("!" | "!!str") => false,
        Some("!!int" | "!!float" | "!!bool" | "!!null") => true,
        Some(tag) => return Err(format!("the tag `{tag}` has no meaning in JSON: remove it")),
    };
    if is_plain {
        plain(text)
    } else {
        Ok(Value::String(text.to_owned()))
    }
}

/// Returns the value of a text without quotes.
fn plain(text: &str) -> Result<Value, String> {
    let value = match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" | "-.inf" | "-.Inf" | "-.INF"
        | ".nan" | ".NaN" | ".NAN" => {
            return Err(format!("JSON has no number `{text}`: write it in quotes"));
        }
        _ => match number(text) {
            Some(number) => Value::Number(number),
            None => Value::String(text.to_owned()),
        },
    };
    Ok(value)
}

/// Returns the number that a text is.
fn number(text: &str) -> Option<Number> {
    let radix = |prefix: &str, radix: u32| {
        let digits = text.strip_prefix(prefix)?;
        let is_digit = |digit: char| digit.is_digit(radix);
        (!digits.is_empty() && digits.chars().all(is_digit))
            .then(|| u64::from_str_radix(digits, radix).ok())?
    };
    if let Some(whole) = radix("0o", 8).or_else(|| radix("0x", 16)) {
        return Some(whole.into());
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let has_digits = !(whole.is_empty() && fraction.is_empty());
    let is_exponent = |text: &str| {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        !digits.is_empty() && is_digits(digits)
    };
    if !has_digits || !is_digits(whole) || !is_digits(fraction) || !exponent.is_none_or(is_exponent)
    {
        return None;
    }
    if let Ok(whole) = text.parse::<i64>() {
        return Some(whole.into());
    }
    if let Ok(whole) = text.parse::<u64>() {
        return Some(whole.into());
    }
    text.parse().ok().and_then(Number::from_f64)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

    use super::read;
    use serde_json::json;

    #[test]
    fn values_are_those_of_the_core_schema() {
        let text = "a: 1\nb: 1.50\nc: \"1\"\nd: 2026-01-01\ne: yes\nf: ~\ng: [x, 'y z', true]\nh:\n  i: |\n    two\n    lines\n  j: >-\n    folded\n    text\nk: 0x1F\nl: 007\nm: !!str 5\nn: .5\n";
        assert_eq!(
            read(text).unwrap(),
            json!({
                "a": 1, "b": 1.5, "c": "1", "d": "2026-01-01", "e": "yes", "f": null, "g": ["x", "y z", true],
                "h": { "i": "two\nlines\n", "j": "folded text" }, "k": 31, "l": 7, "m": "5", "n": 0.5,
            })
        );
    }

    #[test]
    fn a_document_that_grows_by_aliases_is_refused() {
        let mut text = "a0: &a0 [1, 2, 3, 4, 5, 6, 7, 8]\n".to_owned();
        for level in 1..8 {
            let before = format!("*a{}", level - 1);
            text += &format!(
                "a{level}: &a{level} [{}]\n",
                [before.as_str(); 8].join(", ")
            );
        }
        assert!(
            read(&text).unwrap_err().contains("more than 4096 values"),
            "{text}"
        );
        let text = format!(
            "a: &a {}\nb: [{}]\n",
            "x".repeat(8 << 10),
            "*a, ".repeat(40)
        );
        let error = read(&text).unwrap_err();
        assert!(error.contains("more than 262144 bytes"), "{error}");
        let deep = format!("a: {}{}", "[".repeat(200), "]".repeat(200));
        assert!(
            read(&deep)
                .unwrap_err()
                .contains("more than 32 levels deep")
        );
    }

    #[test]
    fn no_text_makes_the_reader_panic() {
        const PIECES: &[&str] = &[
            "a", ":", " ", "\n", "-", "[", "]", "{", "}", ",", "\"", "'", "|", ">", "&x", "*x",
            "!", "!!str", "#", "%", "---", "...", "?", "\t", "\r", "é", "\u{feff}", "\0", "  ",
            "1.5", "~", "@", "`", "\\", "<<",
        ];
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..20_000 {
            let length = random.usize(..24);
            let text: String = (0..length)
                .map(|_| PIECES[random.usize(..PIECES.len())])
                .collect();
            let _ = read(&text);
        }
    }
}
