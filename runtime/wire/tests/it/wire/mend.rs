//! Mending: what a mistake in one part costs, what is told of it, and what stays refused.

use mcp_wire::mend::{Mend, MendKind, MistakeFate, MistakeRow, Mistakes, ValueKind, mend};
use mcp_wire::{Decode, Extra, Fault, Integer, Json, Map, Reader, Tag};

#[derive(Default, PartialEq)]
struct Tool {
    hints: Option<Hints>,
    icons: Option<Vec<String>>,
    meta: Option<Map<Json>>,
    name: String,
    extra: Extra,
}

mcp_wire::record! {
    Tool open {
        0 "hints": optional hints;
        1 "icons": optional icons;
        2 "_meta": optional meta;
        3 "name": required name;
    }
}

#[derive(Default, PartialEq)]
struct Hints {
    safe: Option<bool>,
    title: Option<String>,
    extra: Extra,
}

mcp_wire::record! {
    Hints open {
        0 "safe": optional safe;
        1 "title": optional title;
    }
}

#[derive(PartialEq)]
struct ListResult {
    answers: Option<Map<String>>,
    blocks: Vec<Block>,
    next: Option<String>,
    state: Option<String>,
    tools: Vec<Tool>,
    ttl: Integer,
    extra: Extra,
}

mcp_wire::record! {
    ListResult open {
        const 0 "kind": constant("list");
        1 "answers": optional answers;
        2 "blocks": required blocks;
        3 "next": optional next;
        4 "state": optional state;
        5 "tools": required tools;
        6 "ttl": required ttl;
    }
}

#[derive(Debug, PartialEq)]
enum Block {
    Text(Text),
    Link(Link),
}

#[derive(Default, PartialEq)]
struct Text {
    text: String,
    extra: Extra,
}

mcp_wire::record! {
    Text open {
        const 0 "type": constant("text");
        1 "text": required text;
    }
}

#[derive(Default, PartialEq)]
struct Link {
    uri: String,
    extra: Extra,
}

mcp_wire::record! {
    Link open {
        const 0 "type": constant("link");
        1 "uri": required uri;
    }
}

impl Block {
    fn decide(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static TAG: Tag = Tag::new("Block", "type", &["text", "link"]);
        match reader.tag(&TAG)? {
            Some(0) => *self = Self::Text(Decode::blank()),
            Some(_) => *self = Self::Link(Decode::blank()),
            None => return Err(reader.missing_tag(&TAG)),
        }
        Ok(())
    }
}

mcp_wire::variants! {
    Block {
        blank Text decide;
        Text(Text);
        Link(Link);
    }
}

static ROWS: Mistakes = &[
    row("ttl", MistakeFate::Value("0")),
    row("state", MistakeFate::Kept),
    row("answers", MistakeFate::Kept),
    row("blocks", MistakeFate::Value("[]")),
    row("blocks", MistakeFate::KeptSome),
    row("next", MistakeFate::Means("true", "\"all\"")),
    row(
        "tools",
        MistakeFate::Reads(ValueKind::String, "[{\"name\":_}]"),
    ),
    row("tools", MistakeFate::Reads(ValueKind::Object, "[_]")),
    row(
        "tools",
        MistakeFate::EntryReads(ValueKind::String, "{\"name\":_}"),
    ),
    row(
        "answers",
        MistakeFate::EntryReads(ValueKind::True, "\"yes\""),
    ),
    // Of another type: entries of the tools of a result are left out all the same.
    MistakeRow {
        of: &["Hints"],
        member: "tools",
        fate: MistakeFate::Kept,
    },
    MistakeRow {
        of: &["Block"],
        member: "type",
        fate: MistakeFate::Beside("uri", "\"link\""),
    },
    MistakeRow {
        of: &["Block"],
        member: "anyOf",
        fate: MistakeFate::Only("{\"type\":\"none\"}"),
    },
];

const fn row(member: &'static str, fate: MistakeFate) -> MistakeRow {
    MistakeRow {
        of: &["ListResult"],
        member,
        fate,
    }
}

/// Mends a text and reads the result.
fn mended(text: &str) -> Result<(ListResult, Vec<Mend>), String> {
    let mut read = |reader: &mut Reader<'_>| <ListResult as Decode>::blank().fill(reader);
    let mended = mend(text, ROWS, &mut read).map_err(|error| error.to_string())?;
    let value = mcp_wire::from_str(&mended.text);
    let value = value.unwrap_or_else(|error| panic!("{}: {error}", mended.text));
    Ok((value, mended.mends))
}

/// The mends of a text, as `KIND POINTER VALUE`, with the entry's name.
fn mends(text: &str) -> Vec<String> {
    let (_, mends) = mended(text).unwrap();
    let told = mends.iter().map(|mend| {
        let value = mend.value.as_ref().map_or("", Json::text);
        let part = mend.part.as_deref().unwrap_or_default();
        let kind = match mend.kind {
            MendKind::Removed => "-",
            MendKind::Replaced => "=",
            MendKind::Added => "+",
        };
        format!("{kind}{} {value} {part}", mend.pointer)
            .trim()
            .to_owned()
    });
    told.collect()
}

/// A result with these members and a valid rest.
fn with(members: &str) -> String {
    format!(r#"{{"kind":"list","blocks":[],"ttl":1,{members}}}"#)
}

#[test]
fn an_optional_member_that_cannot_be_read_is_left_out() {
    for (text, told) in [
        (r#""tools":[],"next":5"#, "-/next 5"),
        (r#""next" : [1] , "tools":[]"#, "-/next [1]"),
        (
            r#""tools":[{"name":"a","hints":{"safe":"yes"}}]"#,
            "-/tools/0/hints/safe \"yes\" tool `a`",
        ),
        (
            r#""tools":[{"hints":3,"name":"a"}]"#,
            "-/tools/0/hints 3 tool `a`",
        ),
        (
            r#""tools":[{"name":"a","icons":"x"}]"#,
            "-/tools/0/icons \"x\" tool `a`",
        ),
    ] {
        assert_eq!(mends(&with(text)), [told], "{text}");
    }
}

#[test]
fn an_entry_of_a_list_that_cannot_be_read_is_left_out_and_the_others_stay() {
    let good = r#"{"name":"good"}"#;
    for entries in [
        format!("null,{good},5,{good},[]"),
        format!(r#"{good},{{"hints":{{}}}},{good}"#),
        format!("7,8,{good},{good}"),
    ] {
        let (result, mends) = mended(&with(&format!("\"tools\":[{entries}]"))).unwrap();
        let names: Vec<&str> = result.tools.iter().map(|tool| &*tool.name).collect();
        let rest: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
        assert_eq!(rest, ["good", "good"], "{entries}");
        assert!(!mends.is_empty());
    }
    // Each is told by its place in the text as it came.
    let text = with(r#""tools":[null,{"name":"a","icons":[1,"i",2]},null]"#);
    assert_eq!(
        mends(&text),
        [
            "-/tools/0 null",
            "-/tools/1/icons/0 1 tool `a`",
            "-/tools/1/icons/2 2 tool `a`",
            "-/tools/2 null"
        ]
    );
}

#[test]
fn a_mistake_within_an_entry_that_is_left_out_is_told_once() {
    let text = with(r#""tools":[{"name":7,"hints":{"safe":0},"icons":[1]},{"name":"b"}]"#);
    let (result, mends) = mended(&text).unwrap();
    assert_eq!(result.tools.len(), 1);
    let pointers: Vec<&str> = mends.iter().map(|mend| &*mend.pointer).collect();
    assert_eq!(pointers, ["/tools/0"]);
}

#[test]
fn null_for_a_list_and_an_array_for_an_object_are_the_empty_ones() {
    assert_eq!(mends(&with(r#""tools":null"#)), ["=/tools null"]);
    let text = with(r#""tools":[{"_meta":[],"hints":[ ],"name":"a"}]"#);
    let (result, _) = mended(&text).unwrap();
    assert_eq!(result.tools[0].meta, Some(Map::new()));
    assert_eq!(
        mends(&text),
        [
            "=/tools/0/_meta [] tool `a`",
            "=/tools/0/hints [ ] tool `a`"
        ]
    );
}

#[test]
fn an_empty_array_for_the_whole_is_an_object_that_gets_what_is_known() {
    // What it lacks and nothing knows is refused, all the same.
    let error = mended("[]").unwrap_err();
    assert!(error.contains("member `tools` of ListResult"), "{error}");
}

#[test]
fn a_required_member_with_a_known_value_gets_it() {
    let tools = r#""tools":[]"#;
    for (text, told) in [
        (format!(r#"{{"kind":"list","blocks":[],{tools}}}"#), "+/ttl"),
        (
            format!(r#"{{"kind":"list","blocks":[],{tools},"ttl":null}}"#),
            "=/ttl null",
        ),
        (
            format!(r#"{{"kind":"list","blocks":[],"ttl":"5",{tools}}}"#),
            "=/ttl \"5\"",
        ),
        // A constant has but one value.
        (format!(r#"{{"blocks":[],"ttl":1,{tools}}}"#), "+/kind"),
        (
            format!(r#"{{"kind":null,"blocks":[],"ttl":1,{tools}}}"#),
            "=/kind null",
        ),
        (format!(r#"{{"kind":"list","ttl":1,{tools}}}"#), "+/blocks"),
    ] {
        assert_eq!(mends(&text), [told], "{text}");
    }
    assert_eq!(mends(r#"{"tools":[]}"#), ["+/kind", "+/blocks", "+/ttl"]);
    let other = mended(&format!(
        r#"{{"kind":"other","blocks":[],"ttl":1,{tools}}}"#
    ));
    assert!(
        other
            .unwrap_err()
            .starts_with("at /kind: expected \"list\"")
    );
}

#[test]
fn a_text_that_plainly_means_another_is_that() {
    let (result, mends) = mended(&with(r#""tools":[],"next":true"#)).unwrap();
    assert_eq!(result.next.as_deref(), Some("all"));
    assert_eq!(mends[0].kind, MendKind::Replaced);
}

#[test]
fn a_value_of_another_kind_stands_for_what_its_row_says_and_an_entry_does() {
    for (tools, told) in [
        (r#""a \" _""#, r#"=/tools "a \" _""#),
        (r#"{"name":"a"}"#, r#"=/tools {"name":"a"}"#),
        (r#"["a"]"#, r#"=/tools/0 "a""#),
        (r#"[{"name":"b"},"a",5]"#, r#"=/tools/1 "a"|-/tools/2 5"#),
    ] {
        let text = with(&format!("\"tools\":{tools}"));
        let (result, _) = mended(&text).unwrap();
        let name = &result.tools.last().unwrap().name;
        assert!(name.starts_with('a'), "{tools}: {name}");
        assert_eq!(mends(&text).join("|"), told, "{tools}");
    }
    // Mistakes within what was put there cost what they cost elsewhere.
    let tool = r#"{"hints":{"safe":1,"title":"t"},"icons":["i",2,3,"j"],"name":"a"}"#;
    let text = with(&format!("\"tools\":{tool}"));
    let (result, mends) = mended(&text).unwrap();
    let tool = &result.tools[0];
    let hints = tool.hints.as_ref().unwrap();
    assert_eq!((hints.safe, hints.title.as_deref()), (None, Some("t")));
    assert_eq!(
        tool.icons.as_deref(),
        Some(&["i".to_owned(), "j".to_owned()][..])
    );
    assert_eq!((tool.name.as_str(), mends.len()), ("a", 1));
    // An entry that is kept is not lost by it, and one of another kind is.
    let (result, _) = mended(&with(r#""tools":[],"answers":{"a":true}"#)).unwrap();
    assert_eq!(
        result.answers.unwrap().get("a").map(String::as_str),
        Some("yes")
    );
    assert!(mended(&with(r#""tools":[],"answers":{"a":false}"#)).is_err());
}

#[test]
fn what_has_to_stay_is_refused_where_it_is() {
    let state = mended(&with(r#""tools":[],"state":5"#)).unwrap_err();
    assert!(
        state.starts_with("at /state: expected a string, found 5"),
        "{state}"
    );
    let answer = mended(&with(r#""tools":[],"answers":{"a":"1","b":2}"#)).unwrap_err();
    assert!(
        answer.starts_with("at /answers/b: expected a string, found 2"),
        "{answer}"
    );
    // `null` says nothing that could be missed.
    let text = with(r#""tools":[],"answers":{"a":"1","b":null}"#);
    assert_eq!(mends(&text), ["-/answers/b null"]);
}

#[test]
fn a_list_that_keeps_some_does_not_lose_its_last_entry() {
    let tools = r#""kind":"list","ttl":1,"tools":[]"#;
    let text = format!(r#"{{"blocks":[{{"type":"odd"}},{{"type":"text","text":"x"}}],{tools}}}"#);
    assert_eq!(mends(&text), [r#"-/blocks/0 {"type":"odd"}"#]);
    let text = format!(r#"{{"blocks":[{{"type":"odd"}},{{"type":"text"}}],{tools}}}"#);
    let error = mended(&text).unwrap_err();
    assert!(
        error.starts_with("at /blocks/0/type: expected \"text\" or \"link\""),
        "{error}"
    );
}

#[test]
fn a_member_is_supplied_beside_another_and_taken_from_the_only_alternative() {
    let tools = r#""kind":"list","ttl":1,"tools":[]"#;
    let text = format!(r#"{{"blocks":[{{"uri":"a:b"}}],{tools}}}"#);
    let (result, mends) = mended(&text).unwrap();
    assert!(matches!(&result.blocks[..], [Block::Link(link)] if link.uri == "a:b"));
    assert_eq!(mends[0].pointer, "/blocks/0/type");
    let text = format!(
        r#"{{"blocks":[{{"note":1,"anyOf":[{{"type":"text","text":"x","note":2}},{{"type":"none"}}]}}],{tools}}}"#
    );
    let (result, mends) = mended(&text).unwrap();
    let [Block::Text(block)] = &result.blocks[..] else {
        panic!("{result:?}");
    };
    assert_eq!((block.text.as_str(), block.extra.len()), ("x", 1));
    assert_eq!(mends[0].pointer, "/blocks/0/anyOf");
    let two = text.replace("none", "link");
    assert!(mended(&two).is_err(), "two alternatives are a choice");
}

#[test]
fn half_a_surrogate_pair_costs_one_character() {
    let text = with(r#""tools":[{"name":"a \ud83d \udc00 \ud83d\ude00 b"}]"#);
    let (result, mends) = mended(&text).unwrap();
    assert_eq!(result.tools[0].name, "a \u{fffd} \u{fffd} \u{1f600} b");
    assert_eq!(mends.len(), 1);
    assert_eq!(mends[0].pointer, "/tools/0/name");
}

#[test]
fn many_mistakes_of_one_kind_are_mended_in_one_pass_and_too_many_are_refused() {
    let list = |count| {
        let tool = r#"{"name":"a","hints":1}"#;
        with(&format!("\"tools\":[{}]", vec![tool; count].join(",")))
    };
    assert_eq!(mends(&list(900)).len(), 900);
    assert!(mended(&list(1100)).is_err());
}

#[test]
fn mistakes_below_a_name_of_a_megabyte_are_mended_as_long_as_their_pointers_have_room() {
    let mended = |mistakes: usize| {
        let tool = format!(
            r#"{{"name":"a","icons":[{}]}}"#,
            vec!["0"; mistakes].join(",")
        );
        let text = format!(r#"{{"{}":{tool}}}"#, "n".repeat(1 << 20));
        let mut read = |reader: &mut Reader<'_>| Map::<Tool>::blank().fill(reader);
        mend(&text, ROWS, &mut read).map(|whole| whole.mends.len())
    };
    assert_eq!(mended(10), Ok(10));
    let error = mended(20).unwrap_err();
    assert_eq!(error.expected(), "a string");
}

#[test]
fn what_is_no_json_stays_no_json() {
    for text in ["", "{", r#"{"tools":[}"#, r#"{"next":5,"tools":[]"#, "[[[["] {
        let strict = mcp_wire::from_str::<Json>(text).unwrap_err().to_string();
        assert_eq!(mended(text).unwrap_err(), strict);
    }
}

#[test]
fn of_a_member_that_comes_twice_the_last_one_counts() {
    let text = with(
        r#""tools":[{"name":"a","name":"b","x":1,"x":2,"n\u0061me":"d"},{"name":"c"}],"next":"p","next":"q""#,
    );
    let (result, _) = mended(&text).unwrap();
    assert_eq!(
        (result.tools[0].name.as_str(), result.tools.len()),
        ("d", 2)
    );
    assert_eq!(result.tools[0].extra.get("x").unwrap().text(), "2");
    assert_eq!(result.next.as_deref(), Some("q"));
    let told = mends(&text);
    let first = |kept: &str| told.iter().any(|told| told.starts_with(kept));
    assert!(
        first("-/tools/0/name \"a\"") && first("-/tools/0/x 1") && first("-/next \"p\""),
        "{told:?}"
    );
    assert_eq!(told.len(), 4);
}

#[test]
fn of_a_member_that_comes_twice_each_one_may_be_wrong() {
    for (members, kept, told) in [
        (r#""next":5,"next":"q""#, Some("q"), "-/next 5"),
        (r#""next":"p","next":5,"next":"q""#, Some("q"), "-/next"),
        (r#""next":"p","next":5"#, None, "-/next"),
        (r#""next":5,"next":6"#, None, "-/next"),
    ] {
        let text = with(&format!(r#""tools":[],{members}"#));
        let (result, _) = mended(&text).unwrap();
        assert_eq!(result.next.as_deref(), kept, "{members}");
        let all = mends(&text);
        assert!(
            all.iter().all(|one| one.starts_with(told)),
            "{members}: {all:?}"
        );
        assert_eq!(
            all.len(),
            members.matches("next").count() - usize::from(kept.is_some())
        );
    }
}

#[test]
fn nothing_is_mended_where_nothing_is_wrong() {
    let text = with(r#""tools":[{"name":"a", "hints" : {} }]"#);
    let mut read = |reader: &mut Reader<'_>| <ListResult as Decode>::blank().fill(reader);
    let whole = mend(&text, ROWS, &mut read).unwrap();
    assert_eq!((whole.text.as_str(), whole.mends.len()), (&*text, 0));
}

#[test]
fn an_error_names_the_entry_of_the_list_that_it_is_in() {
    let text = with(r#""tools":[{"icons":["i"],"name":"add","hints":{"title":5}}]"#);
    let error = mcp_wire::from_str::<ListResult>(&text).unwrap_err();
    assert_eq!(error.part(), Some("tool `add`"));
    assert!(
        error
            .to_string()
            .starts_with("tool `add`, at /tools/0/hints/title: expected a string")
    );
    let text = r#"{"resourceTemplates":[{"uriTemplate":"a:{b}"},{"x":}]}"#;
    let error = mcp_wire::from_str::<Json>(text).unwrap_err();
    assert_eq!(error.part(), None, "the second one has no name");
}
