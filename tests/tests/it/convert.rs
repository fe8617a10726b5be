//! What conversions rest on: values whose type is only known at run time, values that no rule speaks of, and hooks.

use mcp_convert::dynamic::{
    Failure, MethodFate, MethodStep, Pair, Part, RenamedMethod, RevisionTables, Subject, Tables,
    TypeStep,
};
use mcp_convert::{Context, Loss, Rule, Severity, Stop};
use mcp_revisions_core::Revision;
use mcp_wire::{Direction, Json, JsonObject, MethodInfo, TypeInfo};

const fn method(name: &'static str) -> MethodInfo {
    MethodInfo {
        name,
        params: Some("AskParams"),
        params_required: true,
        message: "AskRequest",
        ..MethodInfo::BLANK
    }
}

const STEPS: &[TypeStep] = &[TypeStep {
    from: "AskParams",
    to: "AskParams",
    run: None,
}];
static TYPES: [TypeInfo; 1] = [TypeInfo::of::<Json>("AskParams", "AskParams")];
static OLD: RevisionTables = RevisionTables {
    id: "old",
    methods: &[method("things/ask")],
    types: &TYPES,
};
static NEW: RevisionTables = RevisionTables {
    id: "new",
    methods: &[method("things/query")],
    types: &TYPES,
};
/// The two revisions, with rules about methods, under their newer names.
const fn pair(methods: &'static [MethodStep]) -> Pair {
    Pair {
        old: "old",
        new: "new",
        up_step: "old -> new",
        down_step: "new -> old",
        up: STEPS,
        down: STEPS,
        alike: &[],
        methods,
        renamed: &[RenamedMethod {
            direction: Direction::ClientToServer,
            old: "things/ask",
            new: "things/query",
        }],
        wholes: &[],
        errors: &[],
        instead: &[],
        open_results: None,
        rules: &[],
    }
}

static TABLES: Tables = Tables::new(&[&OLD, &NEW], &[pair(&[])]);
static RULED: Tables = Tables::new(
    &[&OLD, &NEW],
    &[pair(&[MethodStep {
        method: "things/query",
        direction: Direction::ClientToServer,
        stays_the_other_way: false,
        rule: &Rule::NO_COUNTERPART,
        up: Some(MethodFate::Drop),
        down: None,
    }])],
);

#[test]
fn a_rule_about_a_method_holds_for_it_under_its_older_name() {
    for sender in [Some(Direction::ClientToServer), None] {
        let convert = |name, from, to| {
            let subject = Subject::Method(name, Part::Params, sender);
            RULED.convert(subject, from, to, r#"{"a":1}"#, &mut Context::default())
        };
        let up = convert("things/ask", 0, 1);
        assert!(matches!(up, Ok(Err(Stop::Dropped(_)))), "{up:?}");
        let down = convert("things/query", 1, 0);
        assert!(matches!(down, Ok(Ok(_))), "{down:?}");
    }
}

#[test]
fn a_method_goes_on_under_the_name_that_the_adjacent_revision_has_for_it() {
    let sender = Some(Direction::ClientToServer);
    for (name, other, from, to) in [
        ("things/ask", "things/query", 0, 1),
        ("things/query", "things/ask", 1, 0),
    ] {
        assert_eq!(TABLES.method_name(name, sender, from, to), other);
        let convert = |name| {
            let subject = Subject::Method(name, Part::Params, sender);
            TABLES.convert(subject, from, to, r#"{"a":1}"#, &mut Context::default())
        };
        let converted = convert(name).ok().and_then(Result::ok);
        assert_eq!(converted.as_ref().map(Json::text), Some(r#"{"a":1}"#));
        // Neither revision knows it by the name that it has in the other one.
        assert!(matches!(convert(other), Err(Failure::Unknown(_))));
    }
}

/// `EmptyResult` is another name of `Result` in each schema, and has no conversion of its own.
#[test]
fn another_name_of_a_type_is_converted_as_its_first_one() {
    let converted = |name, from, to| {
        let text = r#"{"_meta":{"acme":1}}"#;
        let given = mcp_revisions_core::values::convert(
            Subject::Type(name),
            from,
            to,
            text,
            Context::default(),
        );
        given.map(|outcome| outcome.value().map(|json| json.text().to_owned()))
    };
    for pair in Revision::NEGOTIATED.windows(2) {
        for (from, to) in [(pair[0], pair[1]), (pair[1], pair[0])] {
            let result = converted("Result", from, to);
            assert!(result.is_ok(), "{from} {to}: {result:?}");
            assert_eq!(converted("EmptyResult", from, to), result, "{from} {to}");
        }
    }
}

static NULL: Rule = Rule::new("note-null", "only the newer one may say null");

#[test]
fn null_is_told_where_the_other_revision_has_no_such_value() {
    for (given, left, told) in [
        (None, None, 0),
        (Some(None), None, 1),
        (Some(Some(7)), Some(7), 0),
    ] {
        let mut cx = Context::default();
        let value = cx.not_null(&NULL, "note", given);
        assert_eq!(value, left);
        let pointers: Vec<String> = cx.losses().iter().map(|loss| loss.pointer()).collect();
        assert_eq!(pointers, vec!["/note"; told], "{given:?}");
    }
}

#[test]
fn a_value_that_reads_in_the_other_revision_goes_on_and_another_is_told() {
    for (given, left, told) in [
        (Some("\"a\""), Some("a"), 0),
        (Some("1"), None, 1),
        (None, None, 0),
    ] {
        let mut cx = Context::default();
        let given = given.map(|text| Json::from_text(text).unwrap());
        let read = cx.reread::<Json, String>(&NULL, "note", given);
        assert_eq!(read.as_deref(), left);
        assert_eq!(cx.losses().len(), told);
    }
}

static TOO_LONG: Rule = Rule::new("too-long", "the newer one takes no more");

#[test]
fn a_hook_may_end_the_conversion_by_its_rule_and_where_it_stands() {
    let mut cx = Context::default();
    let ended = cx.member("data", (), |(), cx| -> Result<(), Stop> {
        Err(cx.under(&TOO_LONG).reject(-32602, "too long"))
    });
    let told = match ended {
        Err(Stop::Rejected(told)) => Some((told.rule, told.pointer, told.error.code == -32602)),
        _ => None,
    };
    assert_eq!(told, Some(("too-long", "/data".to_owned(), true)));
}

#[test]
fn of_a_name_that_stands_twice_in_an_opaque_object_the_last_one_counts_and_the_other_is_told() {
    let opened = |text: &str| {
        let mut cx = Context::default();
        let value = JsonObject::from_text(text).unwrap();
        let members = cx.member("settings", value, |value, cx| cx.open(value));
        let told = |loss: &Loss| (loss.pointer(), loss.severity(), loss.value());
        (
            members.map(|members| mcp_wire::to_string(&members)),
            cx.losses().iter().map(told).collect::<Vec<_>>(),
        )
    };
    let (members, losses) = opened(r#"{"a":1,"b":2,"a":3}"#);
    assert_eq!(members.as_deref(), Ok(r#"{"b":2,"a":3}"#));
    let first = (
        "/settings/a".to_owned(),
        Severity::Invalid,
        Some(Json::of(&1)),
    );
    assert_eq!(losses, [first]);
    let (members, losses) = opened(r#"{"a":1,"b":2}"#);
    assert_eq!(members.as_deref(), Ok(r#"{"a":1,"b":2}"#));
    assert_eq!(losses, []);
    // A name that is not a text cannot be said to anybody.
    let (members, _) = opened(r#"{"\ud800":1}"#);
    assert!(matches!(members, Err(Stop::Rejected(_))), "{members:?}");
}
