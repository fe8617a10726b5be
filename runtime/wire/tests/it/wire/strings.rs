//! Strings: escapes in and out, surrogates, control characters.

use mcp_wire::{ErrorKind, Json, Map, from_str, to_string};

use crate::wire::corpus::Random;

#[test]
fn reads_every_escape() {
    let text = r#""\" \\ \/ \b \f \n \r \t \u0041 \u00e9 \u20AC \ud83d\ude00 \uD83D\uDE00 \u0000 \ud800\udc00\uDBFF\uDFFF""#;
    let expected = "\" \\ / \u{8} \u{c} \n \r \t A é € 😀 😀 \0 \u{10000}\u{10ffff}";
    assert_eq!(from_str::<String>(text).unwrap(), expected);
    assert_eq!(
        from_str::<Map<bool>>(&format!("{{{text}:true}}"))
            .unwrap()
            .get(expected),
        Some(&true)
    );
}

#[test]
fn refuses_half_surrogate_pairs_in_typed_strings() {
    for half in [
        r"\ud83d",
        r"\ude00",
        r"\ud83d\ud83d",
        r"\ud83dx",
        r"\ud83d\n",
        r"\ude00\ud83d",
    ] {
        let text = format!(r#"["fine","a{half}"]"#);
        let error = from_str::<Vec<String>>(&text).unwrap_err();
        assert_eq!(
            (error.kind(), error.pointer()),
            (ErrorKind::Surrogate, "/1")
        );
        assert_eq!(error.offset(), 10, "{half}");
        assert!(error.found().starts_with(r"\u"), "{error}");
        let key = format!(r#"{{"a{half}":1}}"#);
        assert_eq!(
            from_str::<Map<Json>>(&key).unwrap_err().kind(),
            ErrorKind::Surrogate
        );
        let json = Json::from_text(&text).unwrap();
        assert_eq!(json.text(), text, "opaque text keeps them");
    }
}

#[test]
fn refuses_wrong_escapes_everywhere() {
    for escape in [
        r"\x", r"\u12", r"\u12g4", r"\U0041", r"\'", "\\", "\\\n", "\\\u{e9}",
    ] {
        for text in [
            format!("\"a{escape}"),
            format!("\"a{escape}\""),
            format!("\"a{escape}zzzzzzzz\""),
        ] {
            assert!(from_str::<String>(&text).is_err(), "{text}");
            assert!(from_str::<Json>(&text).is_err(), "{text}");
        }
    }
}

#[test]
fn refuses_control_characters_at_any_place() {
    for length in [0, 1, 7, 8, 9, 15, 16, 31, 32, 33, 63, 64, 150, 200, 300] {
        for control in (0..0x20_u8).map(char::from) {
            let text = format!(
                "\"{}{control}{}\"",
                "a".repeat(length),
                "b".repeat(length / 2)
            );
            let error = from_str::<String>(&text).unwrap_err();
            assert_eq!(
                (error.kind(), error.offset()),
                (ErrorKind::Syntax, length + 1)
            );
            assert_eq!(from_str::<Json>(&text).unwrap_err().offset(), length + 1);
        }
        let text = format!("\"{}\u{7f}\u{80}\u{ff}\"", "a".repeat(length));
        assert!(from_str::<String>(&text).is_ok());
    }
}

#[test]
fn finds_the_end_of_a_string_at_any_place() {
    for length in 0..400 {
        for filler in ["a", "\u{e9}", "\u{1f600}", "!", "#", "[", "]", "\u{a2}"] {
            let content = filler.repeat(length);
            assert_eq!(
                from_str::<String>(&format!("\"{content}\"")).unwrap(),
                content
            );
            assert_eq!(
                from_str::<Vec<String>>(&format!("[\"{content}\",\"\"]")).unwrap()[0],
                content
            );
            let open = from_str::<String>(&format!("\"{content}")).unwrap_err();
            assert_eq!(open.expected(), "the closing `\"` of a string");
        }
    }
}

#[test]
fn writes_as_serde_json_does() {
    let mut random = Random::new(7);
    let chars: Vec<char> = (0..0x30)
        .map(char::from)
        .chain("\\/é€😀\u{7f}\u{2028}az".chars())
        .collect();
    for length in 0..300 {
        let text: String = (0..length)
            .map(|_| chars[random.below(chars.len())])
            .collect();
        let written = to_string(&text);
        assert_eq!(written, serde_json::to_string(&text).unwrap());
        assert_eq!(from_str::<String>(&written).unwrap(), text);
        let map: Map<String> = [(text.clone(), text.clone())].into_iter().collect();
        assert_eq!(to_string(&map), format!("{{{written}:{written}}}"));
    }
}
