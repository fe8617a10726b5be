//! No secret is shown.

use mcp_revisions_auth::{FlowStep, Secret, Settings, StoredSignIn};

use super::{ISSUER, MCP, World, unauthorized};

#[test]
fn no_debug_and_no_error_has_a_secret() {
    let world = World::latest().with(
        &format!("{ISSUER}/register"),
        201,
        r#"{"client_id":"c1","client_secret":"s3cret"}"#,
    );
    let done = world.sign_in("Bearer");
    let kept = done.outcome.unwrap();
    let mut settings = Settings::new(MCP);
    settings.client_secret = Some(Secret::from("s3cret"));
    let step = FlowStep::Done(Box::new(kept.clone()));
    let shown = format!("{kept:?} {settings:?} {step:?}");
    for secret in ["t0ken", "r1\"", "s3cret"] {
        assert!(!shown.contains(secret), "{secret}: {shown}");
    }
    // Each of them is in what is stored, which reads as it was.
    let stored = kept.to_json();
    for secret in ["t0ken", "r1", "s3cret"] {
        assert!(stored.contains(secret), "{secret}");
    }
    assert_eq!(StoredSignIn::from_json(&stored), Ok(kept));
    let token = format!("{ISSUER}/token");
    for (status, body) in [(400, r#"{"error":"invalid_grant"}"#), (200, "{}"), (0, "")] {
        let failed = world.clone().with(&token, status, body).run(
            settings.clone(),
            None,
            unauthorized("Bearer"),
        );
        let error = failed.outcome.unwrap_err();
        assert!(
            !error.contains("s3cret") && !error.contains("c0de"),
            "{error}"
        );
    }
}

#[test]
fn a_file_of_another_format_is_refused_without_its_content() {
    for text in [
        "",
        "[]",
        "{}",
        r#"{"format":2,"tokens":{"access":"t0ken"}}"#,
    ] {
        let why = StoredSignIn::from_json(text).unwrap_err().to_string();
        assert!(!why.contains("t0ken"), "{why}");
    }
}
