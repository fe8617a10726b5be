//! Questions to people: forms, URLs, and who can be asked.

use super::*;

fn form(property: &str) -> String {
    format!(
        r#"{{"message":"m","requestedSchema":{{"type":"object","properties":{{"p":{property}}}}}}}"#
    )
}

#[test]
fn a_choice_with_titles_keeps_its_spelling_where_it_can() {
    let older = form(r#"{"type":"string","enum":["a","b"],"enumNames":["A","B"]}"#);
    let newer =
        form(r#"{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]}"#);
    says(
        &of_type("ElicitRequestParams", V2025_06_18, V2025_11_25, &older),
        &older,
        &[],
    );
    let place = "/requestedSchema/properties/p";
    says(
        &of_type("ElicitRequestParams", V2025_11_25, V2025_06_18, &newer),
        &older,
        &[("enum-titled", place, Cosmetic, Replaced)],
    );
    let plain = form(r#"{"type":"string","enum":["a"]}"#);
    says(
        &of_type("ElicitRequestParams", V2025_06_18, V2025_11_25, &plain),
        &plain,
        &[],
    );
    says(
        &of_type("ElicitRequestParams", V2025_11_25, V2025_06_18, &plain),
        &plain,
        &[],
    );
}

/// With its default more than the spelling is lost, unless that is carried.
#[test]
fn a_choice_with_titles_loses_its_default_where_nothing_carries_it() {
    let newer = form(r#"{"type":"string","oneOf":[{"const":"a","title":"A"}],"default":"a"}"#);
    let place = "/requestedSchema/properties/p";
    for (policy, older, kind) in [
        (
            UnknownFields::Drop,
            form(r#"{"type":"string","enum":["a"],"enumNames":["A"]}"#),
            Semantic,
        ),
        (
            UnknownFields::Preserve,
            form(r#"{"type":"string","enum":["a"],"enumNames":["A"],"default":"a"}"#),
            Cosmetic,
        ),
    ] {
        let down = under(
            policy,
            "ElicitRequestParams",
            V2025_11_25,
            V2025_06_18,
            &newer,
        );
        says(&down, &older, &[("enum-titled", place, kind, Replaced)]);
    }
}

#[test]
fn names_that_do_not_match_the_values_keep_their_spelling() {
    let odd = form(r#"{"type":"string","enum":["a","b"],"enumNames":["A"]}"#);
    says(
        &of_type("ElicitRequestParams", V2025_06_18, V2025_11_25, &odd),
        &odd,
        &[],
    );
    says(
        &of_type("ElicitRequestParams", V2025_11_25, V2025_06_18, &odd),
        &odd,
        &[],
    );
}

#[test]
fn a_choice_of_several_values_is_refused() {
    for items in [
        r#"{"type":"string","enum":["a"]}"#,
        r#"{"anyOf":[{"const":"a","title":"A"}]}"#,
    ] {
        let newer = form(&format!(r#"{{"type":"array","items":{items}}}"#));
        rejected(
            &of_type("ElicitRequestParams", V2025_11_25, V2025_06_18, &newer),
            -32602,
        );
    }
    let answer = r#"{"action":"accept","content":{"p":["a"]}}"#;
    rejected(
        &of_type("ElicitResult", V2025_11_25, V2025_06_18, answer),
        -32602,
    );
}

#[test]
fn defaults_are_lost_where_there_are_none() {
    let newer = form(r#"{"type":"string","default":"d"}"#);
    let down = of_type("ElicitRequestParams", V2025_11_25, V2025_06_18, &newer);
    says(
        &down,
        &form(r#"{"type":"string"}"#),
        &[(
            "form-default",
            "/requestedSchema/properties/p/default",
            Semantic,
            Removed,
        )],
    );
    let boolean = form(r#"{"type":"boolean","default":true}"#);
    says(
        &of_type("ElicitRequestParams", V2025_11_25, V2025_06_18, &boolean),
        &boolean,
        &[],
    );
}

#[test]
fn a_url_never_becomes_a_form() {
    let url = r#"{"mode":"url","message":"m","url":"https://example.com","elicitationId":"e"}"#;
    rejected(
        &of_type("ElicitRequestParams", V2025_11_25, V2025_06_18, url),
        -32602,
    );
    let carried = under(
        UnknownFields::Preserve,
        "ElicitRequestParams",
        V2025_11_25,
        V2025_06_18,
        url,
    );
    rejected(&carried, -32602);
}

#[test]
fn the_id_of_a_url_elicitation_needs_an_adapter_on_the_way_back() {
    let older = r#"{"mode":"url","message":"m","url":"https://example.com","elicitationId":"e"}"#;
    let newer = r#"{"mode":"url","message":"m","url":"https://example.com"}"#;
    says(
        &of_type("ElicitRequestParams", V2025_11_25, V2026_07_28, older),
        newer,
        &[("elicitation-id", "/elicitationId", Semantic, Removed)],
    );
    needs(
        &of_type("ElicitRequestParams", V2026_07_28, V2025_11_25, newer),
        Adapter::UrlElicitationId,
    );
}

#[test]
fn a_client_that_takes_urls_alone_does_not_look_as_if_it_took_forms() {
    let of = |policy, value: &str| {
        let text = format!(r#"{{"elicitation":{value}}}"#);
        under(
            policy,
            "ClientCapabilities",
            V2025_11_25,
            V2025_06_18,
            &text,
        )
    };
    for policy in [UnknownFields::Drop, UnknownFields::Preserve] {
        let url = of(policy, r#"{"url":{}}"#);
        says(
            &url,
            "{}",
            &[(
                "elicitation-capability",
                "/elicitation",
                Interaction,
                Removed,
            )],
        );
    }
    says(&of(UnknownFields::Drop, "{}"), r#"{"elicitation":{}}"#, &[]);
    says(
        &of(UnknownFields::Drop, r#"{"form":{},"url":{}}"#),
        r#"{"elicitation":{}}"#,
        &[
            (
                "elicitation-capability",
                "/elicitation/form",
                Cosmetic,
                Removed,
            ),
            (
                "elicitation-capability",
                "/elicitation/url",
                Interaction,
                Removed,
            ),
        ],
    );
    says(
        &of(UnknownFields::Preserve, r#"{"form":{},"url":{}}"#),
        r#"{"elicitation":{"form":{},"url":{}}}"#,
        &[
            (
                "elicitation-capability",
                "/elicitation/form",
                Cosmetic,
                Carried,
            ),
            (
                "elicitation-capability",
                "/elicitation/url",
                Interaction,
                Carried,
            ),
        ],
    );
}
