//! Exactly the texts that are JSON are read, and no text makes a reader panic.

use mcp_wire::{
    Decode, ErrorKind, Fault, Json, MAX_DEPTH, Map, Number, Reader, Unreadable, from_slice,
    from_str, peek, to_string,
};
use serde::de::IgnoredAny;

use crate::wire::corpus::{SAMPLES, broken};

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

#[test]
fn reads_what_serde_json_reads() {
    let mut accepted = 0;
    for bytes in broken(60_000) {
        let read = from_slice::<Json>(&bytes);
        let Ok(text) = str::from_utf8(&bytes) else {
            assert_eq!(read.unwrap_err().kind(), ErrorKind::Utf8);
            continue;
        };
        assert_eq!(read.is_ok(), is_json(text), "{text}");
        accepted += usize::from(read.is_ok());
    }
    assert!(accepted > 5_000, "the mutations are too wild: {accepted}");
}

#[test]
fn looks_and_typed_reads_never_panic() {
    let mut accepted = 0;
    for bytes in broken(30_000) {
        let Ok(text) = str::from_utf8(&bytes) else {
            continue;
        };
        match peek(text.as_bytes()) {
            Ok(seen) => {
                accepted += 1;
                assert!(seen.method.is_none() || seen.result.is_none(), "{text}");
                let parts = [seen.params, seen.result, seen.error];
                for part in parts.into_iter().flatten() {
                    assert!(is_json(part.text()), "{text}");
                }
            }
            Err(Unreadable::NotJson(error) | Unreadable::NotAMessage { error, .. }) => {
                assert!(error.offset() <= text.len());
                assert!(
                    !error.expected().is_empty() && !error.found().is_empty(),
                    "{error}"
                );
            }
        }
        let _ = from_str::<Map<Map<Json>>>(text);
        let _ = from_str::<Vec<Option<Number>>>(text);
        let _ = from_str::<Vec<String>>(text);
    }
    assert!(accepted > 1_000, "the mutations are too wild: {accepted}");
}

#[test]
fn numbers_follow_the_grammar() {
    let parts = ["", "-", "0", "1", "9", ".", "e", "E", "+", "00", "12"];
    let mut accepted = 0;
    for a in parts {
        for b in parts {
            for c in parts {
                for d in parts {
                    let text = format!("{a}{b}{c}{d}");
                    assert_eq!(Json::from_text(&text).is_ok(), is_json(&text), "{text}");
                    assert_eq!(text.parse::<Number>().is_ok(), is_json(&text), "{text}");
                    accepted += usize::from(is_json(&text));
                }
            }
        }
    }
    assert!(accepted > 100);
}

#[test]
fn opaque_text_is_kept_verbatim() {
    for sample in SAMPLES {
        let json = Json::from_text(sample).unwrap();
        assert_eq!(json.text(), sample.trim());
        assert_eq!(to_string(&json), sample.trim());
    }
}

#[test]
fn nesting_ends_at_the_limit() {
    let nested =
        |open: &str, close: &str, depth: usize| open.repeat(depth) + "1" + &close.repeat(depth);
    let limit = MAX_DEPTH as usize;
    for (open, close) in [("[", "]"), (r#"{"a":"#, "}"), (r#"[{"a":"#, "}]")] {
        let levels = open.matches(['[', '{']).count();
        assert!(Json::from_text(&nested(open, close, limit / levels)).is_ok());
        for depth in [limit / levels + 1, 10_000, 1_000_000] {
            let error = Json::from_text(&nested(open, close, depth)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Depth);
            assert_eq!(error.offset(), nested(open, "", limit / levels).len() - 1);
        }
    }
    // An empty container is a level, too.
    assert!(Json::from_text(&("[".repeat(limit) + &"]".repeat(limit))).is_ok());
    let error = Json::from_text(&("[".repeat(limit) + "{}" + &"]".repeat(limit))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Depth);
}

#[test]
fn typed_and_opaque_levels_count_together() {
    let text = |depth: usize| {
        let nested = "[".repeat(depth) + &"]".repeat(depth);
        format!(r#"{{"jsonrpc":"2.0","id":1,"result":{nested}}}"#)
    };
    let limit = MAX_DEPTH as usize;
    assert!(peek(text(limit - 1).as_bytes()).is_ok());
    let Err(Unreadable::NotAMessage { error, .. }) = peek(text(limit).as_bytes()) else {
        panic!("a message that is too deep");
    };
    assert_eq!(error.kind(), ErrorKind::Depth);
    type Deep = Vec<Vec<Vec<Json>>>;
    let text = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(from_str::<Deep>(&text(limit)).is_ok());
    assert_eq!(
        from_str::<Deep>(&text(limit + 1)).unwrap_err().kind(),
        ErrorKind::Depth
    );
}

/// A typed value that is nothing but nested.
struct Nest(Vec<Nest>);

impl Decode for Nest {
    fn blank() -> Self {
        Self(Vec::new())
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.0.fill(reader)
    }
}

#[test]
fn typed_nesting_ends_at_the_limit() {
    let text = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    let limit = MAX_DEPTH as usize;
    assert_eq!(from_str::<Nest>(&text(limit)).unwrap().0.len(), 1);
    for depth in [limit + 1, 10_000, 1_000_000] {
        let error = from_str::<Nest>(&text(depth)).err().unwrap();
        assert_eq!((error.kind(), error.offset()), (ErrorKind::Depth, limit));
    }
    // What has ended no longer counts.
    assert!(from_str::<Nest>(&format!("[{}]", vec!["[[],[]]"; 1000].join(","))).is_ok());
}

#[test]
fn nothing_may_follow() {
    for text in ["1 2", "{}x", "[]]", "null,", "\"a\"\"b\"", "1\u{a0}", "1\0"] {
        let error = Json::from_text(text).unwrap_err();
        assert_eq!(
            (error.kind(), error.expected()),
            (ErrorKind::Syntax, "the end of the text")
        );
    }
    assert!(Json::from_text(" \t\r\n1 \t\r\n").is_ok());
}

#[test]
fn a_byte_order_mark_is_refused() {
    let error = Json::from_text("\u{feff}{}").unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Syntax, 0));
    assert_eq!(error.found(), r"`\u{feff}`");
}

#[test]
fn bytes_must_be_utf8() {
    let error = from_slice::<Json>(b"{\"a\":[\"\xC3\xA9\xFF\"]}").unwrap_err();
    assert_eq!(
        error.to_string(),
        "at /a/0: expected UTF-8, found byte 0xff (line 1, column 9)"
    );
}

/// Were any step quadratic, this test would take minutes.
#[test]
fn huge_texts_take_linear_time() {
    let digits = "7".repeat(10_000_000);
    let number: Number = from_str(&digits).unwrap();
    assert_eq!(to_string(&number), digits);
    assert_eq!(number, from_str::<Number>(&format!("{digits}.0")).unwrap());
    assert!(number.is_integer() && number.as_i64().is_none());
    let keys: Vec<String> = (0..200_000).map(|key| format!(r#""{key}":1"#)).collect();
    let object = format!("{{{}}}", keys.join(","));
    let map: Map<Json> = from_str(&object).unwrap();
    assert_eq!(map.len(), keys.len());
    let mut turned = keys.clone();
    turned.reverse();
    let turned = format!("{{{}}}", turned.join(","));
    assert_eq!(
        Json::from_text(&object).unwrap(),
        Json::from_text(&turned).unwrap()
    );
    assert_eq!(from_str::<Map<Json>>(&turned).unwrap(), map);
    assert_eq!(map.into_iter().collect::<Map<Json>>().len(), keys.len());
    let twice = format!("{{{},{}}}", keys.join(","), keys[0]);
    assert_eq!(
        from_str::<Map<Json>>(&twice).unwrap_err().kind(),
        ErrorKind::Duplicate
    );
}

#[test]
fn a_value_can_be_skipped_and_cut_out() {
    let mut reader = Reader::new(r#" [ {"a":1} , 2 ]"#);
    let mut array = reader.array().unwrap();
    assert!(array.next(&mut reader).unwrap());
    assert_eq!(reader.text_of_value().unwrap(), r#"{"a":1}"#);
    assert!(array.next(&mut reader).unwrap());
    reader.skip().unwrap();
    assert!(!array.next(&mut reader).unwrap());
    reader.finish().unwrap();
}
