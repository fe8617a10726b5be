//! Looking ahead to decide a union.

use mcp_wire::{Error, ErrorKind, Fault, Paths, Reader, Tag, TagFound};

static TAG: Tag = Tag::new("Block", "type", &["audio", "text"]);
static OPTIONAL: Tag = Tag::optional("Params", "mode", &["form", "url"]);
static PATHS: Paths = Paths::new(
    "Schema",
    &[
        &["enumNames"],
        &["items", "enum"],
        &["items", "anyOf"],
        &["a", "b", "c"],
    ],
);

fn look<'a, T>(
    text: &'a str,
    look: impl FnOnce(&mut Reader<'a>) -> Result<T, Fault>,
) -> Result<T, Error> {
    let mut reader = Reader::new(text);
    let found = look(&mut reader).map_err(|fault| Error::new(&fault, text));
    // Nothing is consumed but blanks.
    assert_eq!(text[..reader.offset()].trim(), "");
    found
}

#[test]
fn tags() {
    for (text, index) in [
        (r#" {"type":"audio"}"#, Some(0)),
        (
            r#"{"x":{"type":"audio"}, "type" : "text" , "broken"#,
            Some(1),
        ),
        (r#"{"typ":"text"}"#, None),
        ("{}", None),
    ] {
        assert_eq!(
            look(text, |reader| reader.tag(&TAG)).unwrap(),
            index,
            "{text}"
        );
        let found = index.map_or(TagFound::Absent, TagFound::Known);
        assert_eq!(
            look(text, |reader| reader.tag_or_other(&TAG)).unwrap(),
            found
        );
    }
    for other in [
        r#"{"type":"textual"}"#,
        r#"{"type":"tex"}"#,
        r#"{"type":""}"#,
    ] {
        assert_eq!(
            look(other, |reader| reader.tag(&TAG)).unwrap_err().kind(),
            ErrorKind::Tag
        );
    }
    let other = r#"{"type":"video"}"#;
    assert_eq!(
        look(other, |reader| reader.tag_or_other(&TAG)).unwrap(),
        TagFound::Other
    );
    let error = look(other, |reader| reader.tag(&TAG)).unwrap_err();
    assert_eq!(
        (error.kind(), error.pointer(), error.expected()),
        (ErrorKind::Tag, "/type", r#""audio" or "text""#)
    );
    assert_eq!(
        look(r#"{"type":null}"#, |reader| reader.tag_or_other(&TAG))
            .unwrap_err()
            .kind(),
        ErrorKind::Tag
    );
    assert_eq!(
        look("[]", |reader| reader.tag(&TAG))
            .unwrap_err()
            .expected(),
        "Block object"
    );
    assert_eq!(
        look("x", |reader| reader.tag(&TAG)).unwrap_err().kind(),
        ErrorKind::Syntax
    );
}

#[test]
fn a_tag_that_may_be_absent_may_be_null() {
    for (text, index) in [
        (r#"{"mode":null}"#, None),
        (r#"{"x":1,"mode" : null}"#, None),
        ("{}", None),
        (r#"{"mode":"url"}"#, Some(1)),
    ] {
        let found = look(text, |reader| reader.tag(&OPTIONAL)).unwrap();
        assert_eq!(found, index, "{text}");
    }
    for text in [r#"{"mode":5}"#, r#"{"mode":"fax"}"#] {
        let error = look(text, |reader| reader.tag(&OPTIONAL)).unwrap_err();
        assert_eq!((error.kind(), error.pointer()), (ErrorKind::Tag, "/mode"));
    }
}

#[test]
fn presence_of_paths() {
    for (text, expected) in [
        (r#"{"enumNames":null}"#, [true, false, false, false]),
        // Some peers write all members.
        (
            r#"{"enumNames":null,"items":{"enum":[],"anyOf":null}}"#,
            [false, true, false, false],
        ),
        (
            r#"{"items":{"enum":[],"x":{"anyOf":1}}}"#,
            [false, true, false, false],
        ),
        (
            r#" {"items":{"any\u004ff":1,"enum":{}},"enumNames":0}"#,
            [true, true, true, false],
        ),
        (r#"{"items":["enum"],"enum":1}"#, [false; 4]),
        (r#"{"a":{"b":{"c":1}}}"#, [false, false, false, true]),
        (r#"{"a":{"c":{"b":1}},"b":{"c":1}}"#, [false; 4]),
        (r#"{"a":{"b":[]}}"#, [false; 4]),
        (r#"{"items":{"b":{"c":1}}}"#, [false; 4]),
    ] {
        let present = look(text, |reader| reader.present(&PATHS)).unwrap();
        assert_eq!(
            [0, 1, 2, 3].map(|index| present.has(index)),
            expected,
            "{text}"
        );
        assert!(!present.has(4) && !present.has(1000));
    }
    assert_eq!(
        look("5", |reader| reader.present(&PATHS))
            .unwrap_err()
            .expected(),
        "Schema object"
    );
    assert_eq!(
        look(r#"{"items":{"#, |reader| reader.present(&PATHS))
            .unwrap_err()
            .kind(),
        ErrorKind::Syntax
    );
}

#[test]
fn first_of_paths() {
    let first = |text| look(text, |reader| reader.first_present(&PATHS)).unwrap();
    assert_eq!(
        first(r#"{"x":1,"items":BROKEN"#),
        Some(1),
        "the value found is not scanned"
    );
    assert_eq!(
        first(r#"{"x":{"items":1},"enumNames":1,"items":1}"#),
        Some(0)
    );
    assert_eq!(first(r#"{"items" : null,"enumNames":1}"#), Some(0));
    assert_eq!(first(r#"{"items":null,"x":1}"#), Some(1));
    assert_eq!(first(r#"{"x":{"items":1}}"#), None);
    let error = look(" {}", |reader| Err::<(), _>(reader.undecided(&PATHS))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "at the root: expected member `enumNames`, `items/enum`, `items/anyOf` or `a/b/c`, found nothing (line 1, column 2)"
    );
}

#[test]
fn choices() {
    let role = |text| {
        let mut reader = Reader::new(text);
        reader
            .string_enum(&["assistant", "user"])
            .map_err(|fault| Error::new(&fault, text))
    };
    assert_eq!(
        (
            role(r#""user""#).unwrap(),
            role(r#" "\u0061ssistant""#).unwrap()
        ),
        (1, 0)
    );
    let error = role(r#" "system""#).unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"at the root: expected "assistant" or "user", found string "system" (line 1, column 2)"#
    );
    assert_eq!(role("5").unwrap_err().kind(), ErrorKind::Choice);
    let error = look("[1]", |reader| {
        Err::<(), _>(reader.refuse("string, integer or boolean"))
    })
    .unwrap_err();
    assert_eq!(
        (error.expected(), error.found()),
        ("string, integer or boolean", "an array")
    );
}
