//! Four times the text takes four times the time, not sixteen times.

use mcp_revisions_core::{Context, Revision, Subject, UnknownFields};
use mcp_revisions_core::{v2025_03_26, v2025_11_25, v2026_07_28};
use std::fs;
use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use mcp_revisions_schema::model::Shape;
use mcp_tests::sampler::{Fill, Recipe, Sampler};
use mcp_tests::tree::{Member, Node, Standing, Style, Value};
use mcp_wire::TypeInfo;

/// Four times the size may take so many times as long: far from sixteen, and from four as well.
const MOST: u32 = 10;
/// How often a measurement that looks bad is made again.
const TRIES: usize = 6;

/// The time that this thread has run so far: what others run meanwhile does not count, where the system tells.
fn spent(start: Instant) -> Duration {
    // The account is brought up to date when the thread gives way.
    thread::yield_now();
    let account = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = account
        .split(' ')
        .next()
        .and_then(|nanos| nanos.parse().ok());
    // Nothing is what a system says that keeps no account.
    let nanos = nanos.filter(|nanos| *nanos > 0);
    nanos.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

fn fastest(run: impl Fn(&str), text: &str) -> Duration {
    let start = Instant::now();
    let time = || {
        let before = spent(start);
        run(black_box(text));
        spent(start) - before
    };
    (0..3).map(|_| time()).min().unwrap()
}

/// Hands texts of size `n` and `4 n` to a type.
fn is_linear(what: &str, row: &TypeInfo, n: usize, make: impl Fn(usize) -> String) {
    let run = |text: &str| drop(black_box(row.round_trip(text)));
    runs_linear(&format!("{what} to {}", row.rust_name), run, n, make);
}

/// Hands texts of size `n` and `4 n` to a function.
fn runs_linear(what: &str, run: impl Fn(&str), n: usize, make: impl Fn(usize) -> String) {
    let (small, large) = (make(n), make(4 * n));
    assert!(
        large.len() >= 3 * small.len() && large.len() <= 5 * small.len(),
        "{what}"
    );
    let mut seen = Vec::new();
    for _ in 0..TRIES {
        let times = (fastest(&run, &small), fastest(&run, &large));
        if times.1 <= times.0 * MOST {
            return;
        }
        seen.push(times);
    }
    panic!("{what}: {seen:?}");
}

#[test]
fn big_texts_take_linear_time() {
    let rows = [
        TypeInfo::of::<mcp_wire::Json>("Json", "Json"),
        TypeInfo::of::<v2025_03_26::JsonRpcMessage>("JSONRPCMessage", "JsonRpcMessage"),
        TypeInfo::of::<v2025_11_25::ClientRequest>("ClientRequest", "ClientRequest"),
        TypeInfo::of::<v2025_11_25::CallToolResult>("CallToolResult", "CallToolResult"),
        TypeInfo::of::<v2025_11_25::PrimitiveSchemaDefinition>("P", "PrimitiveSchemaDefinition"),
        TypeInfo::of::<v2026_07_28::SamplingContent>("SamplingContent", "SamplingContent"),
        TypeInfo::of::<v2026_07_28::InputResponses>("InputResponses", "InputResponses"),
        TypeInfo::of::<v2026_07_28::ProgressToken>("ProgressToken", "ProgressToken"),
        TypeInfo::of::<v2026_07_28::LoggingLevel>("LoggingLevel", "LoggingLevel"),
    ];
    let members = |n: usize| {
        (0..n)
            .map(|i| format!("\"k{i}\":{i}"))
            .collect::<Vec<_>>()
            .join(",")
    };
    let list = |n: usize, item: &str| vec![item; n].join(",");
    for row in &rows {
        is_linear("digits", row, 40_000, |n| "7".repeat(n));
        is_linear("a fraction", row, 10_000, |n| {
            format!("0.{}1", "0".repeat(n))
        });
        is_linear("an exponent", row, 10_000, |n| {
            format!("1e{}", "9".repeat(n))
        });
        is_linear("a string", row, 100_000, |n| {
            format!("\"{}\"", "a".repeat(n))
        });
        is_linear("an unended string", row, 100_000, |n| {
            format!("\"{}", "a".repeat(n))
        });
        is_linear("escapes", row, 1_000, |n| {
            format!("\"{}\"", "\\n\\u00e9".repeat(n))
        });
        is_linear("blanks", row, 100_000, |n| format!("{}{{", " ".repeat(n)));
        is_linear("lines", row, 40_000, |n| format!("{}x", "\n".repeat(n)));
        is_linear("members", row, 1_000, |n| format!("{{{}}}", members(n)));
        is_linear("members without end", row, 1_000, |n| {
            format!("{{{},", members(n))
        });
        is_linear("members and a tag", row, 1_000, |n| {
            format!("{{{},\"type\":\"text\",\"method\":\"ping\"}}", members(n))
        });
        is_linear("members that repeat", row, 1_000, |n| {
            format!("{{{},\"k0\":0}}", members(n))
        });
        is_linear("a long name", row, 3_000, |n| {
            format!("{{\"{}\":0}}", "\\u0061".repeat(n))
        });
        is_linear("a list", row, 2_000, |n| format!("[{}]", list(n, "{}")));
        is_linear("a list of blocks", row, 400, |n| {
            format!("[{}]", list(n, r#"{"text":"a","type":"text"}"#))
        });
        is_linear("content", row, 400, |n| {
            format!(
                r#"{{"content":[{}]}}"#,
                list(n, r#"{"text":"a","type":"text"}"#)
            )
        });
        is_linear("content with a fault", row, 400, |n| {
            format!(
                r#"{{"content":[{},0]}}"#,
                list(n, r#"{"text":"a","type":"text"}"#)
            )
        });
        is_linear("choices", row, 2_000, |n| {
            format!(r#"{{"enum":[{}],"type":"string"}}"#, list(n, "\"a\""))
        });
    }
}

#[test]
fn conversions_take_linear_time() {
    let convert = |name: &'static str, from: Revision, to: Revision| {
        move |text: &str| {
            let cx = Context::new(UnknownFields::Drop);
            let outcome =
                mcp_revisions_core::values::convert(Subject::Type(name), from, to, text, cx);
            let _ = black_box(outcome).unwrap();
        }
    };
    let all = |n: usize, item: &dyn Fn(usize) -> String| {
        let items: Vec<String> = (0..n).map(item).collect();
        items.join(",")
    };
    let results = convert(
        "CallToolResult",
        Revision::V2025_06_18,
        Revision::V2025_03_26,
    );
    runs_linear("a block per element", results, 100, |n| {
        let element = |index: usize| format!(r#"{{"index":{index},"name":"n"}}"#);
        let block = |index: usize| {
            format!(r#"{{"type":"text","text":"{{\"name\":\"n\",\"index\":{index}}}"}}"#)
        };
        format!(
            r#"{{"content":[{}],"structuredContent":{{"result":[{}]}}}}"#,
            all(n, &block),
            all(n, &element)
        )
    });
    runs_linear("an image per element", results, 400, |n| {
        let element = |index: usize| format!(r#""{index:08}""#);
        let block =
            |index: usize| format!(r#"{{"type":"image","data":"{index:08}","mimeType":"a/b"}}"#);
        format!(
            r#"{{"content":[{}],"structuredContent":{{"result":[{}]}}}}"#,
            all(n, &block),
            all(n, &element)
        )
    });
    let resources = convert(
        "ReadResourceResult",
        Revision::V2025_06_18,
        Revision::V2025_03_26,
    );
    runs_linear("entries that are left out", resources, 200, |n| {
        let entries = all(n, &|_| "0".to_owned());
        format!(r#"{{"contents":[{entries},{{"uri":"a:b","text":""}}]}}"#)
    });
    runs_linear("mistakes in one entry", results, 200, |n| {
        format!(
            r#"{{"content":[{{"type":"text","text":"{}","annotations":{{"audience":[{}]}}}}]}}"#,
            "a".repeat(500 * n),
            all(n, &|_| "0".to_owned())
        )
    });
    let messages = convert(
        "CreateMessageRequestParams",
        Revision::V2025_11_25,
        Revision::V2025_06_18,
    );
    runs_linear("messages of many blocks", messages, 200, |n| {
        format!(
            r#"{{"maxTokens":1,"messages":[{{"role":"user","content":[{}],"_meta":{{"a/b":"{}"}}}}]}}"#,
            all(n, &|_| r#"{"type":"text","text":""}"#.to_owned()),
            "a".repeat(100 * n)
        )
    });
}

#[test]
fn unions_that_are_told_by_their_last_member_take_linear_time() {
    let models = crate::specs::models();
    let mut tried = 0;
    for of in &models.revisions {
        let sampler = Sampler::new(&of.model, &of.revision.id);
        for def in of.model.types.values() {
            let Shape::Union(union) = &def.shape else {
                continue;
            };
            let row = of
                .revision
                .id
                .parse::<Revision>()
                .unwrap()
                .type_named(&def.name)
                .unwrap();
            // The first and the last variant: the plan treats those between them alike.
            for index in [0, union.variants.len() - 1] {
                let recipe = Recipe::Variant(index, Fill::Least);
                let node = sampler.instance(&def.name, recipe, 1).node;
                if !matches!(node.value, Value::Object(_)) {
                    continue;
                }
                let make = |n: usize| before(&node, n).text(&mut Style::plain());
                let text = make(2);
                assert!(row.round_trip(&text).is_ok(), "{} refuses {text}", def.name);
                is_linear("unknown members first", row, 500, make);
                tried += 1;
            }
        }
    }
    assert!(tried > 150, "only {tried} variants tried");
}

/// The object with so many unknown members before its own.
fn before(node: &Node, n: usize) -> Node {
    let mut node = node.clone();
    if let Value::Object(members) = &mut node.value {
        let unknown = (0..n).map(|index| Member {
            name: format!("x-{index}"),
            standing: Standing::Unknown,
            node: Node::opaque(&mcp_tests::text::Value::Word(index.to_string())),
        });
        members.splice(0..0, unknown);
    }
    node
}
