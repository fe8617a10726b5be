//! Bytes that are no text: broken UTF-8, halves of surrogate pairs, marks of byte order.

use mcp_revisions_core::{
    draft, v2024_11_05, v2025_03_26, v2025_06_18, v2025_11_25, v2026_07_28, v2026_07_28_rc,
};
use mcp_wire::{Decode, Encode, ErrorKind, UnknownMessage, from_slice, from_str, to_string};

use super::assert_clear;

/// Bytes that no UTF-8 text holds.
const BROKEN: &[&[u8]] = &[
    b"\xff",
    b"\x80",
    b"\xc3",
    b"\xc0\xaf",
    b"\xe2\x82",
    b"\xed\xa0\x80",
    b"\xf0\x9f\x98",
    b"\xf4\x90\x80\x80",
    b"\xf8\x88\x80\x80\x80",
];

#[track_caller]
fn refuses<T: Decode>(bytes: &[u8], at: usize) {
    let Err(error) = from_slice::<T>(bytes) else {
        panic!("{bytes:?} is taken");
    };
    assert_eq!(
        (error.kind(), error.offset()),
        (ErrorKind::Utf8, at),
        "{error}"
    );
    assert_clear(&error, std::str::from_utf8(&bytes[..at]).unwrap());
}

fn refuses_broken_utf8<T: Decode>(text: &str) {
    assert!(from_slice::<T>(text.as_bytes()).is_ok(), "{text}");
    let places: Vec<usize> = text
        .char_indices()
        .map(|(at, _)| at)
        .chain([text.len()])
        .collect();
    for broken in BROKEN {
        for &at in &places {
            let (before, after) = text.as_bytes().split_at(at);
            refuses::<T>(&[before, broken, after].concat(), at);
        }
    }
    // Every character of more than one byte, cut short.
    for (at, char) in text.char_indices().filter(|(_, char)| char.len_utf8() > 1) {
        for length in 1..char.len_utf8() {
            refuses::<T>(&text.as_bytes()[..at + length], at);
        }
    }
}

#[test]
fn broken_utf8_is_refused_at_its_place() {
    let text = r#"{"jsonrpc":"2.0","id":1,"method":"ping","x-é":"naïve 名 😀"}"#;
    refuses_broken_utf8::<UnknownMessage>(text);
    refuses_broken_utf8::<v2024_11_05::JsonRpcMessage>(text);
    refuses_broken_utf8::<v2025_03_26::JsonRpcMessage>(text);
    refuses_broken_utf8::<v2025_06_18::JsonRpcMessage>(text);
    refuses_broken_utf8::<v2025_11_25::ClientRequest>(text);
    refuses_broken_utf8::<v2026_07_28_rc::JsonRpcMessage>(text);
    refuses_broken_utf8::<v2026_07_28::JsonRpcMessage>(text);
    refuses_broken_utf8::<draft::JsonRpcMessage>(text);
}

#[test]
fn broken_utf8_is_refused_with_the_pointer_of_its_value() {
    let error =
        from_slice::<UnknownMessage>(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\xff\"}")
            .unwrap_err();
    assert_eq!(
        error.to_string(),
        "at /method: expected UTF-8, found byte 0xff (line 1, column 36)"
    );
}

#[test]
fn half_a_surrogate_pair_is_refused_where_a_string_is_read_and_kept_where_it_is_not() {
    for half in [
        r"\ud800",
        r"\udfff",
        r"\ud83d\u0041",
        r"\ude00\ud83d",
        r"\uD83Dx",
    ] {
        let text = format!(r#"{{"type":"text","text":"a{half}"}}"#);
        let error = from_str::<v2025_11_25::ContentBlock>(&text).unwrap_err();
        assert_eq!(
            (error.kind(), error.pointer()),
            (ErrorKind::Surrogate, "/text"),
            "{text}"
        );
        assert_clear(&error, &text);
        // As the name of a member that has to be kept.
        let text = format!(r#"{{"type":"text","text":"a","{half}":1}}"#);
        let error = from_str::<v2025_11_25::ContentBlock>(&text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Surrogate, "{text}");
        // Opaque JSON is text, and the text is sound.
        let text = format!(r#"{{"name":"a","arguments":{{"{half}":"{half}"}}}}"#);
        let params: v2025_11_25::CallToolRequestParams = from_str(&text).unwrap();
        assert_eq!(
            to_string(&params),
            r#"{"arguments":{"H":"H"},"name":"a"}"#.replace('H', half)
        );
    }
    let whole = r#"{"text":"\ud83d\uDE00","type":"text"}"#;
    let block: v2025_11_25::TextContent = from_str(whole).unwrap();
    assert_eq!(block.text, "😀");
}

#[test]
fn a_byte_order_mark_is_refused_and_shown() {
    let error = from_slice::<UnknownMessage>(b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"method\":\"a\"}")
        .unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Syntax, 0));
    assert!(error.found().contains("feff"), "{error}");
}

#[test]
fn zeros_stay_zeros() {
    fn keeps<T: Decode + Encode>(text: &str) {
        let value: T = from_str(text).unwrap();
        assert!(mcp_tests::text::same(text, &to_string(&value)), "{text}");
    }
    keeps::<v2025_11_25::TextContent>(r#"{"type":"text","text":"a\u0000b","\u0000":"\u0000"}"#);
    let error =
        from_str::<v2025_11_25::TextContent>("{\"type\":\"text\",\"text\":\"a\0b\"}").unwrap_err();
    assert_eq!(
        (error.kind(), error.pointer()),
        (ErrorKind::Syntax, "/text")
    );
    assert_clear(&error, "{\"type\":\"text\",\"text\":\"a\0b\"}");
}
