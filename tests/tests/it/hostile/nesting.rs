//! Values inside values inside values.

use mcp_revisions_core::Revision;
use mcp_revisions_core::v2025_11_25;
use mcp_revisions_schema::model::{Rest, Shape};
use mcp_tests::sampler::{Recipe, Sampler};
use mcp_tests::tree::{Member, Node, Standing, Style, Value};
use mcp_tests::{parallel, text};
use mcp_wire::{ErrorKind, MAX_DEPTH};

use super::{assert_clear, every_type};

const DEEP: usize = 10_000;

#[test]
fn ten_thousand_levels_are_refused_by_every_type() {
    let closed = |open: &str, close: &str| format!("{}{}", open.repeat(DEEP), close.repeat(DEEP));
    let texts = [
        "[".repeat(DEEP),
        "{\"a\":".repeat(DEEP),
        closed("[", "]"),
        closed("{\"a\":", "}").replace(":}", ":1}"),
        closed("[{\"a\":", "}]").replace(":}", ":1}"),
        format!("{{\"params\":{}", "{\"_meta\":".repeat(DEEP)),
        format!("{{\"content\":{}", "[".repeat(DEEP)),
        format!(
            "{{\"type\":\"array\",\"items\":{}",
            "{\"items\":".repeat(DEEP)
        ),
    ];
    parallel::map(&every_type(), |(revision, row)| {
        for text in &texts {
            match row.round_trip(text) {
                Ok(_) => panic!("{revision} {} takes {DEEP} levels", row.rust_name),
                Err(error) => assert_clear(&error, text),
            }
        }
    });
}

/// So many objects and lists, one in the other.
fn nested(levels: usize) -> String {
    let open: String = (0..levels)
        .map(|level| if level % 2 == 0 { "{\"a\":" } else { "[" })
        .collect();
    let close: String = (0..levels)
        .rev()
        .map(|level| if level % 2 == 0 { "}" } else { "]" })
        .collect();
    format!("{open}0{close}")
}

#[test]
fn unknown_members_may_be_as_deep_as_the_reader_goes_and_no_deeper() {
    let models = crate::specs::models();
    let room = usize::try_from(MAX_DEPTH).unwrap() - 1;
    let mut tried = 0;
    for of in &models.revisions {
        let sampler = Sampler::new(&of.model, &of.revision.id);
        let generated: Revision = of.revision.id.parse().unwrap();
        for def in of.model.types.values() {
            if !matches!(&def.shape, Shape::Object(object) if object.rest == Rest::Open) {
                continue;
            }
            let row = generated.type_named(&def.name).unwrap();
            let with = |levels: usize| {
                let mut node = sampler.instance(&def.name, Recipe::Least, 1).node;
                let Value::Object(members) = &mut node.value else {
                    panic!("{} is not an object", def.name);
                };
                members.push(Member {
                    name: "x-deep".to_owned(),
                    standing: Standing::Unknown,
                    node: Node::opaque(&text::parse(&nested(levels)).unwrap()),
                });
                node.text(&mut Style::plain())
            };
            let fits = with(room);
            let written = row
                .round_trip(&fits)
                .unwrap_or_else(|error| panic!("{}: {error}", def.name));
            assert!(text::same(&fits, &written), "{}", def.name);
            let too_deep = with(room + 1);
            let error = row.round_trip(&too_deep).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Depth, "{}: {error}", def.name);
            assert!(
                error.pointer().starts_with("/x-deep/a/0/a"),
                "{}: {error}",
                def.name
            );
            tried += 1;
        }
    }
    assert!(tried > 500, "only {tried} types take unknown members");
}

#[test]
fn deep_texts_need_no_deep_stack() {
    // A quarter of what a thread has by default.
    let small = std::thread::Builder::new().stack_size(512 * 1024);
    let work = || {
        let text = format!(r#"{{"name":"a","inputSchema":{}}}"#, nested(127));
        let tool: v2025_11_25::Tool = mcp_wire::from_str(&text).unwrap();
        assert_eq!(tool, tool.clone());
        assert_eq!(mcp_wire::to_string(&tool).len(), text.len());
        // The same value in another spelling, so that it is compared level by level.
        let spelled = mcp_wire::from_str(&text.replace(':', ": ")).unwrap();
        assert_eq!(tool, spelled);
        let text = "[".repeat(1_000_000);
        let error = mcp_wire::from_str::<mcp_wire::Json>(&text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Depth);
    };
    small.spawn(work).unwrap().join().unwrap();
}
