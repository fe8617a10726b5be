//! A YAML document as JSON, by the core schema of YAML 1.2, without aliases and tags: what the parser tells of it, put together.

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Number, Value};

/// Maximum number of lists and mappings within each other.
const DEPTH: usize = 32;

/// A list or a mapping that has not ended yet.
enum YamlContainer {
    List(Vec<Value>),
    /// The fields, and the key whose value comes next.
    Mapping(Map<String, Value>, Option<String>),
}

/// The part of a document that was read.
#[derive(Default)]
struct YamlDocument {
    open: Vec<YamlContainer>,
    root: Option<Value>,
}

/// Reads a text that is one document. Returns the reason why it cannot be read, with the line.
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
            Event::Alias(_) => Err("an alias is not read here: repeat the value".to_owned()),
            Event::Scalar(.., Some(_))
            | Event::SequenceStart(_, Some(_))
            | Event::MappingStart(_, Some(_)) => Err(
                "a tag has no meaning in JSON: remove it, and write a text in quotes".to_owned(),
            ),
            Event::Scalar(text, style, ..) => {
                if let Some(YamlContainer::Mapping(fields, key @ None)) = self.open.last_mut() {
                    if fields.contains_key(&*text) {
                        return Err(format!("`{text}` stands there twice"));
                    }
                    *key = Some(text.into_owned());
                    return Ok(());
                }
                let value = match style {
                    ScalarStyle::Plain => plain(&text)?,
                    _ => Value::String(text.into_owned()),
                };
                self.place(value)
            }
            Event::SequenceStart(..) => self.begin(YamlContainer::List(Vec::new())),
            Event::MappingStart(..) => self.begin(YamlContainer::Mapping(Map::new(), None)),
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(YamlContainer::List(values)) => self.place(Value::Array(values)),
                Some(YamlContainer::Mapping(fields, _)) => self.place(Value::Object(fields)),
                None => Ok(()),
            },
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(()),
        }
    }

    fn begin(&mut self, container: YamlContainer) -> Result<(), String> {
        if self.open.len() >= DEPTH {
            return Err(format!("it is more than {DEPTH} levels deep"));
        }
        self.open.push(container);
        Ok(())
    }

    /// Puts a value where it stands.
    fn place(&mut self, value: Value) -> Result<(), String> {
        match self.open.last_mut() {
            None => self.root = Some(value),
            Some(YamlContainer::List(values)) => values.push(value),
            Some(YamlContainer::Mapping(fields, key)) => match key.take() {
                Some(key) => _ = fields.insert(key, value),
                None => return Err("a key that is not a text".to_owned()),
            },
        }
        Ok(())
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

fn number(text: &str) -> Option<Number> {
    let radix = |prefix: &str, radix: u32| {
        let digits = text.strip_prefix(prefix)?;
        // A sign is none of a number of this form.
        let is_digits = digits.chars().all(|digit| digit.is_digit(radix));
        u64::from_str_radix(digits, radix)
            .ok()
            .filter(|_| is_digits)
    };
    if let Some(whole) = radix("0o", 8).or_else(|| radix("0x", 16)) {
        return Some(whole.into());
    }
    // Words such as `inf` are numbers in Rust only.
    let is_numeric = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    if !text.bytes().all(is_numeric) {
        return None;
    }
    let signed = text.parse::<i64>().map(Number::from);
    let whole = signed.or_else(|_| text.parse::<u64>().map(Number::from));
    whole.ok().or_else(|| Number::from_f64(text.parse().ok()?))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

    use super::read;
    use serde_json::json;

    #[test]
    fn values_are_those_of_the_core_schema() {
        let text = "a: 1\nb: 1.50\nc: \"1\"\nd: 2026-01-01\ne: yes\nf: ~\ng: [x, 'y z', true]\nh:\n  i: |\n    two\n    lines\n  j: >-\n    folded\n    text\nk: 0x1F\nl: 007\nn: .5\n";
        assert_eq!(
            read(text).unwrap(),
            json!({
                "a": 1, "b": 1.5, "c": "1", "d": "2026-01-01", "e": "yes", "f": null, "g": ["x", "y z", true],
                "h": { "i": "two\nlines\n", "j": "folded text" }, "k": 31, "l": 7, "n": 0.5,
            })
        );
    }

    #[test]
    fn aliases_tags_and_depth_are_refused() {
        let deep = format!("a: {}{}", "[".repeat(200), "]".repeat(200));
        for (text, why) in [
            ("a: &a [1]\nb: *a\n", "line 3: an alias is not read here"),
            ("a: !!str 5\n", "line 2: a tag has no meaning"),
            ("a: !x [5]\n", "line 2: a tag has no meaning"),
            (&*deep, "more than 32 levels deep"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
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
