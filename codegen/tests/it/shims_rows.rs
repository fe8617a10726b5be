//! Rows about conversions by themselves: changes of the prose that say too little, and how codes are printed.

use mcp_revisions_plans::rules::CodeRange;
use mcp_revisions_schema::pair::RevisionPair;
use mcp_revisions_schema::spec::changes::ProseChanges;
use mcp_revisions_schema::spec::rules::RuleFile;

#[test]
fn a_change_that_says_too_little_is_an_error_that_names_it() {
    let row = |id: &str, between: &str, says: &str, page: &str, waiver: &str| {
        format!(
            "[[change]]\nid = {id:?}\nbetween = {between:?}\nsays = {says:?}\npage = {page:?}\n\
             answer = {{ waiver = {waiver:?} }}\n"
        )
    };
    let text = [
        row("whole", "old..new", "It is so.", "a page", "it needs none"),
        row("silent", "old..new", "", "a page", "it needs none"),
        row("lost", "old..new", "It is so.", "", "it needs none"),
        row("bare", "old..new", "It is so.", "a page", ""),
        row("whole", "old..new", "Again.", "a page", "it needs none"),
        row("far", "old..far", "It is so.", "a page", "it needs none"),
    ];
    let changes = ProseChanges::read(RuleFile::new("changes.toml", text.concat())).unwrap();
    let faults = changes.faults(&[RevisionPair::new("old", "new")]);
    let said: Vec<String> = faults.iter().map(ToString::to_string).collect();
    let expected = [
        ("silent", "`says` is empty"),
        ("lost", "`page` is empty"),
        ("bare", "its waiver gives no reason"),
        ("whole", "another change of this pair has the id"),
        ("far", "no adjacent revisions `old..far` are converted"),
    ];
    assert_eq!(said.len(), expected.len(), "{said:#?}");
    for (said, (id, problem)) in said.iter().zip(expected) {
        crate::says(said, &format!("change `{id}`: {problem}"));
    }
}

#[test]
fn codes_are_read_as_rules_spell_them() {
    let codes = [
        ("-32002", "-32002"),
        ("[-32099,-32020]", "-32099 to -32020"),
        ("\"any\"", "any"),
    ];
    for (text, shown) in codes {
        let codes: CodeRange = serde_json::from_str(text).unwrap();
        assert_eq!(codes.to_string(), shown);
    }
}
