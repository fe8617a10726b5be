//! Error codes.

use super::*;
use mcp_revisions_core::Revision;

fn of(method: &str, from: Revision, to: Revision, code: i64) -> Outcome<ErrorObject> {
    let error: ErrorObject = mcp_wire::from_str(&format!(
        r#"{{"code":{code},"message":"m","data":{{"uri":"x"}}}}"#
    ))
    .unwrap();
    mcp_revisions_core::values::convert_error(method, from, to, error, Context::default())
}

#[track_caller]
fn becomes(outcome: &Outcome<ErrorObject>, code: i64, rule: &str) {
    let Outcome::Lossy(error, losses) = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(error.code, code);
    assert_eq!(
        (losses[0].rule(), losses[0].pointer().as_str(), losses.len()),
        (rule, "/code", 1)
    );
    assert_eq!(error.data.as_ref().unwrap().text(), r#"{"uri":"x"}"#);
}

#[test]
fn a_resource_that_is_not_there_goes_by_another_code() {
    becomes(
        &of("resources/read", V2025_11_25, V2026_07_28, -32002),
        -32602,
        "resource-not-found",
    );
    // It answers reads alone; of anything else nobody can say what it means, and it is not sent any more.
    becomes(
        &of("tools/call", V2025_11_25, V2026_07_28, -32002),
        -32603,
        "not-found-elsewhere",
    );
    // The newer code with the URI in its data says the same.
    becomes(
        &of("resources/read", V2026_07_28, V2025_11_25, -32602),
        -32002,
        "resource-not-found-as-before",
    );
    assert!(of("tools/call", V2026_07_28, V2025_11_25, -32602).is_exact());
}

#[test]
fn urls_to_visit_first_are_no_error_any_more_and_no_code_before() {
    let up = of("tools/call", V2025_11_25, V2026_07_28, -32042);
    assert!(
        matches!(&up, Outcome::RequiresState(needs) if needs.adapter == Adapter::MultiRoundTrip),
        "{up:?}"
    );
    becomes(
        &of("tools/call", V2025_11_25, V2024_11_05, -32042),
        -32603,
        "url-elicitation-required",
    );
}

#[test]
fn what_a_server_means_by_the_code_before_it_meant_anything_sends_nobody_to_a_url() {
    let converted = Revision::CONVERTED.iter().copied();
    for older in converted.take_while(|older| *older != V2025_11_25) {
        for newer in [V2025_11_25, V2026_07_28] {
            let up = of("tools/call", older, newer, -32042);
            becomes(&up, -32603, "url-elicitation-required");
        }
    }
}

#[test]
fn a_persons_refusal_to_sample_is_no_error_any_more() {
    let up = of("sampling/createMessage", V2025_11_25, V2026_07_28, -1);
    assert!(
        matches!(&up, Outcome::RequiresState(needs) if needs.adapter == Adapter::MultiRoundTrip),
        "{up:?}"
    );
}

#[test]
fn codes_of_the_newest_revision_are_said_in_older_ones() {
    for (code, older, rule) in [
        (-32020, -32603, "header-mismatch"),
        (-32021, -32602, "missing-client-capability"),
        (-32022, -32602, "unsupported-protocol-version"),
    ] {
        becomes(
            &of("tools/call", V2026_07_28, V2024_11_05, code),
            older,
            rule,
        );
    }
    assert!(of("tools/call", V2026_07_28, V2024_11_05, -32601).is_exact());
}
