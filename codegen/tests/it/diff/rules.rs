//! Each kind that `errors.toml` can provoke, by one small change of it.

use mcp_revisions_diff::render::brief::brief;
use mcp_revisions_diff::{ChangeKind, Diff, SideSources, compare};
use mcp_revisions_schema::Spec;

use super::{TWIN, only_row, spec_files};

/// A spec whose `errors.toml` says something else of `draft`, which is the twin otherwise.
fn with_errors(change: impl Fn(String) -> String) -> Diff {
    let mut files = spec_files();
    let errors = files.remove("errors.toml").unwrap();
    files.insert("errors.toml".to_owned(), change(errors));
    let spec = Spec::from_files(files).unwrap();
    let sources = SideSources::read(&spec).unwrap();
    compare(
        &sources.open(TWIN, false).unwrap(),
        &sources.open("draft", false).unwrap(),
    )
}

fn row(table: &str, text: &str) -> impl Fn(String) -> String {
    let row = format!(
        "\n[[{table}]]\n{text}since = \"draft\"\nmeaning = \"Something.\"\npage = \"a/page.mdx\"\n"
    );
    move |errors| errors + &row
}

/// Takes `draft` out of the row of that name, and puts a row of its own in its place, if one is given.
fn instead(name: &'static str, new: Option<&'static str>) -> impl Fn(String) -> String {
    move |errors| {
        let rows: Vec<String> = errors
            .split("\n\n")
            .map(|row| {
                let about = row.contains(&format!("\nname = \"{name}\""))
                    || row.contains(&format!("\nid = \"{name}\""));
                match about && !row.contains("\nuntil = ") {
                    false => row.to_owned(),
                    true => {
                        let old =
                            row.replace("\nmeaning", &format!("\nuntil = \"{TWIN}\"\nmeaning"));
                        match new {
                            None => old,
                            Some(meaning) => {
                                let own: Vec<String> = row
                                    .lines()
                                    .filter(|line| !line.starts_with('#'))
                                    .map(|line| match line.split(" = ").next() {
                                        Some("since") => "since = \"draft\"".to_owned(),
                                        Some("meaning") => format!("meaning = \"{meaning}\""),
                                        _ => line.to_owned(),
                                    })
                                    .collect();
                                format!("{old}\n\n{}", own.join("\n"))
                            }
                        }
                    }
                }
            })
            .collect();
        rows.join("\n\n")
    }
}

#[test]
fn one_change_of_the_rules_is_one_kind() {
    type Change = Box<dyn Fn(String) -> String>;
    let cases: Vec<(ChangeKind, &str, Change)> = vec![
        (
            ChangeKind::ErrorCodeAdded,
            "C2S * error ${Odd}.code",
            Box::new(row("error", "code = -32077\nname = \"Odd\"\n")),
        ),
        (
            ChangeKind::ErrorCodeChanged,
            "C2S * error ${InternalError}.code",
            Box::new(instead("InternalError", Some("Other."))),
        ),
        (
            ChangeKind::ErrorCodeRemoved,
            "C2S * error ${InternalError}.code",
            Box::new(instead("InternalError", None)),
        ),
        (
            ChangeKind::HeaderAdded,
            "C2S * header Odd",
            Box::new(row("header", "name = \"Odd\"\n")),
        ),
        (
            ChangeKind::HeaderRemoved,
            "C2S * header Mcp-Method",
            Box::new(instead("Mcp-Method", None)),
        ),
        (
            ChangeKind::HeaderChanged,
            "C2S * header Mcp-Method",
            Box::new(instead("Mcp-Method", Some("Other."))),
        ),
        (
            ChangeKind::RuleAdded,
            "C2S * rule odd",
            Box::new(row(
                "rule",
                "id = \"odd\"\nkind = \"binding\"\nabout = \"transport\"\n",
            )),
        ),
        (
            ChangeKind::RuleRemoved,
            "C2S * rule log-opt-in",
            Box::new(instead("log-opt-in", None)),
        ),
        (
            ChangeKind::RuleChanged,
            "C2S * rule log-opt-in",
            Box::new(instead("log-opt-in", Some("Other."))),
        ),
        (
            ChangeKind::Deprecated,
            "C2S * rule odd",
            Box::new(row(
                "rule",
                "id = \"odd\"\nkind = \"deprecation\"\nabout = \"transport\"\n",
            )),
        ),
        (
            ChangeKind::Undeprecated,
            "C2S * rule roots",
            Box::new(instead("roots", None)),
        ),
    ];
    for (kind, path, change) in &cases {
        let diff = with_errors(change);
        only_row(&diff, *kind, path);
        assert_eq!(diff.rows.len(), 1, "{kind}");
    }
}

/// The few lines that are sent on tell a duty from an offer.
#[test]
fn a_header_that_need_not_be_sent_is_no_duty() {
    for (required, head) in [
        ("", "New optional"),
        ("required = true\n", "Clients must send"),
    ] {
        let added = format!("name = \"Odd\"\n{required}");
        let told = brief(&with_errors(row("header", &added)));
        let [line] = told.as_slice() else {
            panic!("{told:?}");
        };
        assert_eq!(line.head, head);
        assert_eq!(line.items[0].names, ["Odd"]);
    }
}
