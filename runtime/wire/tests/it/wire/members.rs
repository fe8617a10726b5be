//! Tables of members: open, closed, with typed others, ignoring; constants; up to 128 members.

use mcp_wire::{
    Decode, Error, ErrorKind, Extra, Fault, Map, Members, Reader, Writer, from_str, to_string,
};

fn read<T>(text: &str, read: impl FnOnce(&mut Reader<'_>) -> Result<T, Fault>) -> Result<T, Error> {
    let mut reader = Reader::new(text);
    let value = read(&mut reader).and_then(|value| reader.finish().map(|()| value));
    value.map_err(|fault| Error::new(&fault, text))
}

#[test]
fn a_closed_object_refuses_others() {
    static MEMBERS: Members = Members::table("Elicit", &["action"], 0, true);
    let decode = |reader: &mut Reader<'_>| {
        let mut action = String::new();
        let mut object = reader.object(&MEMBERS)?;
        while object.next(reader)?.is_some() {
            action = reader.value()?;
        }
        object.require_seen(0)?;
        Ok(action)
    };
    assert_eq!(read(r#"{"action":"accept"}"#, decode).unwrap(), "accept");
    let error = read(r#"{"action":"accept","b":1}"#, decode).unwrap_err();
    assert_eq!(
        (error.kind(), error.pointer()),
        (ErrorKind::UnknownMember, "/b")
    );
    assert_eq!(
        (error.expected(), error.found()),
        ("a member of Elicit", "string \"b\"")
    );
}

#[test]
fn others_can_be_typed_or_ignored() {
    static MEMBERS: Members = Members::open("Schema", &["type"]);
    let decode = |reader: &mut Reader<'_>| {
        let mut others = Map::<bool>::new();
        let mut object = reader.object(&MEMBERS)?;
        while object.next_with(reader, &mut others)?.is_some() {
            reader.constant("object")?;
        }
        object.require_seen(0)?;
        Ok(others)
    };
    let others = read(r#"{"a":true,"type":"object","b":false}"#, decode).unwrap();
    assert_eq!(
        others.into_iter().collect::<Vec<_>>(),
        [("a".to_owned(), true), ("b".to_owned(), false)]
    );
    assert_eq!(
        read(r#"{"type":"object","a":1}"#, decode)
            .unwrap_err()
            .pointer(),
        "/a"
    );
    let twice = read(r#"{"a":true,"type":"object","a":false}"#, decode).unwrap_err();
    assert_eq!((twice.kind(), twice.offset()), (ErrorKind::Duplicate, 26));

    static LOOK: Members = Members::ignoring("message", &["method"]);
    let look = |reader: &mut Reader<'_>| {
        let mut object = reader.object(&LOOK)?;
        let mut method = None;
        while object.next(reader)?.is_some() {
            method = Some(reader.text_of_string()?.into_owned());
        }
        assert!(object.has_seen(0) && object.into_extra().is_empty());
        Ok(method)
    };
    assert_eq!(
        read(r#"{"a":[1],"method":"x","b":{}}"#, look)
            .unwrap()
            .as_deref(),
        Some("x")
    );
    assert_eq!(
        read(r#"{"a":[1,],"method":"x"}"#, look).unwrap_err().kind(),
        ErrorKind::Syntax
    );
}

#[test]
fn constants_take_any_spelling() {
    assert!(read(r#" "\u0061b" "#, |reader| reader.constant("ab")).is_ok());
    assert!(read("-3202e1", |reader| reader.constant_literal("-32020")).is_ok());
    assert!(read(" true", |reader| reader.constant_literal("true")).is_ok());
    for text in ["false", "1", r#""true""#, "null"] {
        let error = read(text, |reader| reader.constant_literal("true")).unwrap_err();
        assert_eq!(
            (error.kind(), error.expected()),
            (ErrorKind::Constant, "true")
        );
    }
    for (text, found) in [
        ("-32021", "-32021"),
        (r#""x""#, r#"string "x""#),
        ("null", "null"),
    ] {
        let error = read(text, |reader| reader.constant_literal("-32020")).unwrap_err();
        assert_eq!(
            (error.kind(), error.expected(), error.found()),
            (ErrorKind::Constant, "-32020", found)
        );
        let error = read(text, |reader| reader.constant("ab")).unwrap_err();
        assert_eq!(
            (error.kind(), error.expected(), error.found()),
            (ErrorKind::Constant, "\"ab\"", found)
        );
    }
    let mut writer = Writer::new();
    let mut object = writer.object();
    object.constant_literal("code", "-32020");
    object.constant("type", "text");
    object.constant_literal("final", "true");
    object.end();
    assert_eq!(
        writer.into_text(),
        r#"{"code":-32020,"type":"text","final":true}"#
    );
}

#[test]
fn similar_names_are_told_apart() {
    static MEMBERS: Members = Members::open(
        "Similar",
        &["abcdefgh1abcdefgh", "abc", "abcd", "abcdefgh", "abcde"],
    );
    let decode = |reader: &mut Reader<'_>| {
        let mut object = reader.object(&MEMBERS)?;
        let member = object.next(reader)?;
        reader.skip()?;
        object.next(reader)?;
        Ok(member)
    };
    for (key, member) in [
        ("abcdefgh1abcdefgh", Some(0)),
        ("abc", Some(1)),
        ("abcd", Some(2)),
        ("abcdefgh", Some(3)),
        ("abcde", Some(4)),
    ] {
        assert_eq!(
            read(&format!(r#"{{"{key}":[]}}"#), decode).unwrap(),
            member,
            "{key}"
        );
    }
    static NONE: Members =
        Members::open("Similar", &["abcdefgh1abcdefgh", "abcdefgh", "abcd", "abc"]);
    for key in [
        "abcdefgh2abcdefgh",
        "abcdefgi",
        "abxd",
        "axc",
        "",
        "ab",
        "abcdefghabcdefgh",
    ] {
        let text = format!(r#"{{"{key}":[]}}"#);
        let others = |reader: &mut Reader<'_>| {
            let mut object = reader.object(&NONE)?;
            assert_eq!(object.next(reader)?, None);
            Ok(object.into_extra())
        };
        assert!(read(&text, others).unwrap().contains_key(key), "{key}");
    }
}

#[test]
fn an_object_can_have_128_members() {
    static NAMES: [&str; 128] = {
        const DIGITS: &str = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ!#$%&'()*+,-./:;<=>?@[]^_`{|}~ ";
        let mut names = [""; 128];
        let mut index = 0;
        while index < 128 {
            let start = index % 64;
            let (_, rest) = DIGITS.split_at(start);
            (names[index], _) = rest.split_at(1 + index / 64);
            index += 1;
        }
        names
    };
    static MEMBERS: Members = Members::open("Big", &NAMES);
    let decode = |reader: &mut Reader<'_>| {
        let mut seen = Vec::new();
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            seen.push(member);
            bool::decode(reader)?;
        }
        (0..128).try_for_each(|index| object.require_seen(index))?;
        Ok(seen)
    };
    let object = |order: &[usize]| {
        let members: Vec<String> = order
            .iter()
            .map(|&index| format!("{:?}:true", NAMES[index]))
            .collect();
        format!("{{{}}}", members.join(","))
    };
    let order: Vec<usize> = (0..128).map(|index| index * 37 % 128).collect();
    assert_eq!(read(&object(&order), decode).unwrap(), order);
    let error = read(&object(&order[..127]), decode).unwrap_err();
    assert_eq!(
        error.expected(),
        format!("member `{}` of Big", NAMES[order[127]])
    );
    let twice: Vec<usize> = order.iter().copied().chain([127]).collect();
    assert_eq!(
        read(&object(&twice), decode).unwrap_err().kind(),
        ErrorKind::Duplicate
    );
}

#[derive(PartialEq)]
struct Half {
    extra: Extra,
}

mcp_wire::record! {
    Half open {
        const 0 "share": constant_literal("0.5");
    }
}

#[test]
fn a_number_that_is_always_the_same_is_written_as_its_schema_spells_it() {
    let half: Half = from_str(r#"{"share":5e-1,"x":1.50}"#).unwrap();
    assert_eq!(to_string(&half), r#"{"share":0.5,"x":1.50}"#);
    assert!(from_str::<Half>(r#"{"share":0.51}"#).is_err());
}
